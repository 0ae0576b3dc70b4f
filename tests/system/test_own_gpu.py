# SPDX-License-Identifier: Apache-2.0
"""A GPU model of a user's own in ggas-bench: examples/own_gpu."""

import json
import subprocess

import pytest
from conftest import built


@pytest.fixture
def own_bench(tmp_path):
    program = built("GGAS_BENCH_OWN_GPU", "examples/own_gpu/ggas-bench-own-gpu")

    def run(model, *arguments):
        words = [program, *arguments, "--quick", "--nic", "model", "--no-report", "--json", "out.jsonl", "--set", f'gpu.model="{model}"']
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=200)
        path = tmp_path / "out.jsonl"
        return done, [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    return run


def requests_of(records):
    return {(r["variant"], r["params"]["values"]): r["value"] for r in records}


def test_requests_are_those_of_the_model_that_was_named(own_bench):
    own, ours = (own_bench(model, "coalescing") for model in ("fixed", "simt"))
    assert own[0].returncode == 0 and ours[0].returncode == 0, own[0].stderr + ours[0].stderr
    assert all(value == values for (_, values), value in requests_of(own[1]).items()), "a request for each lane"
    assert requests_of(ours[1])[("consecutive_store", 64)] < 64


def test_kernels_that_wait_for_each_other_end(own_bench):
    done, records = own_bench("fixed", "reduce")  # its variant of processors is left out: it needs a copy engine
    assert done.returncode == 0, done.stderr
    assert records


def test_a_model_that_the_program_has_not_is_named(own_bench):
    done, _ = own_bench("mine", "coalescing")
    assert done.returncode == 2
    assert "gpu.model 'mine': this program has 'simt', 'fixed'" in done.stderr
