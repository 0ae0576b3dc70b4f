#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes every view of ggas.rdl: SystemVerilog package and register block, C header, C++ name tables, reference page.

    generate.py ggas.rdl --out DIR          ggas_regs_pkg.sv regs.sv ggas_regs.h ggas_reg_names.hpp in DIR
    generate.py ggas.rdl --doc FILE         the reference page (docs/registers.md)
    generate.py ggas.rdl --doc FILE --check exit status 1 if FILE is not what would be written
"""

import argparse
import pathlib
import sys

import export_md
import export_software
import export_sv
import model


def write_if_changed(path, text):
    """Leaves the time stamp alone when nothing changed, so a build does not start over."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("rdl", type=pathlib.Path)
    args.add_argument("--out", type=pathlib.Path, help="folder of the generated sources")
    args.add_argument("--doc", type=pathlib.Path, help="the reference page")
    args.add_argument("--check", action="store_true", help="compare the page instead of writing it")
    opts = args.parse_args()

    try:
        regs = model.load(opts.rdl)
    except model.Error as e:
        sys.exit(f"{opts.rdl}: {e}")
    if opts.out:
        opts.out.mkdir(parents=True, exist_ok=True)
        write_if_changed(opts.out / "ggas_regs_pkg.sv", export_sv.package(regs))
        write_if_changed(opts.out / "regs.sv", export_sv.block(regs))
        write_if_changed(opts.out / "ggas_regs.h", export_software.c_header(regs))
        write_if_changed(opts.out / "ggas_reg_names.hpp", export_software.cpp_names(regs))
    if opts.doc:
        page = export_md.page(regs)
        if not opts.check:
            write_if_changed(opts.doc, page)
        elif not opts.doc.exists() or opts.doc.read_text() != page:
            sys.exit(f"{opts.doc}: not up to date with {opts.rdl}; run {pathlib.Path(__file__).name} {opts.rdl} --doc {opts.doc}")


if __name__ == "__main__":
    main()
