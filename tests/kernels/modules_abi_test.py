"""Every ctypes structure of the modules and of the benches has the fields of the C structure that it stands for, in their order."""

import ctypes as c
import importlib.util
import os
import re
import sys
import types
import unittest

from modules_support import MODULES, ROOT, load

KERNELS = os.path.join(ROOT, "..", "..", "kernels")
TYPES = {"int": c.c_int, "int64_t": c.c_int64, "uint32_t": c.c_uint32, "float": c.c_float}
PYTHON_NAMES = {"in": "source"}  # words of Python
sys.modules.setdefault("torch", types.ModuleType("torch"))


def headers():
    """Fields of every structure in the kernels' headers: name to list of (field, ctypes type or structure's name, length)."""
    found = {}
    for folder in sorted(os.listdir(KERNELS)):
        path = os.path.join(KERNELS, folder, f"{folder}.h")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"///[^\n]*|//[^\n]*", "", text)
        for name, body in re.findall(r"\nstruct (\w+) \{(.*?)\n\};", text, re.S):
            found[name] = [field_of(field) for field in body.split(";") if field.strip()]
    return found


def field_of(text):
    kind, star, name, length = re.fullmatch(r"\s*(?:const )?(?:struct )?(\w+)(\*?)\s+(\w+)(?:\[(\w+)\])?\s*", text).groups()
    return PYTHON_NAMES.get(name, name), c.c_void_p if star else TYPES.get(kind, kind), length


def same(field, given):
    """Whether a field of a header is a ctypes field."""
    name, kind, length = field
    given_name, given_kind = given[0], given[1]
    if length is not None:
        given_kind = given_kind._type_
    return name == given_name and (given_kind is kind or (isinstance(kind, str) and issubclass(given_kind, c.Structure)))


class Abi(unittest.TestCase):
    def setUp(self):
        self.structures = headers()

    def standing_for(self, fields):
        """Structures of the headers that these fields stand for."""
        return [name for name, wanted in self.structures.items()
                if len(wanted) == len(fields) and all(map(same, wanted, fields))]

    def check(self, module):
        checked = 0
        for name, each in vars(module).items():
            if isinstance(each, type) and issubclass(each, c.Structure):
                with self.subTest(module=module.__name__, structure=name):
                    names = self.standing_for(each._fields_)
                    self.assertTrue(any(name.lower() in found.lower() or found.lower().endswith(name.lower()) for found in names),
                                    f"no structure of the headers has the fields of {name}; equal but for the name: {names}")
                checked += 1
        return checked

    def test_the_headers_are_read(self):
        self.assertGreaterEqual(len(self.structures), 17)
        self.assertEqual(self.structures["BkFp8Quantise"], [("w", c.c_void_p, None), ("w8", c.c_void_p, None),
                                                            ("scale", c.c_void_p, None), ("v", c.c_int, None), ("k", c.c_int, None)])

    def test_modules(self):
        for name in MODULES:
            self.assertGreater(self.check(load(name, "1")), 0)

    def test_benches(self):
        spec = importlib.util.spec_from_file_location("library", os.path.join(KERNELS, "bench", "library.py"))
        library = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(library)
        self.assertGreaterEqual(self.check(library), 11)

    def test_a_missing_or_swapped_field_is_found(self):
        fields = load("mla_indexer", "1").Query._fields_
        self.assertEqual(self.standing_for(fields), ["BkIndexerQuery"])
        self.assertEqual(self.standing_for(fields[:-1]), [])
        self.assertEqual(self.standing_for(fields[:6] + [fields[7], fields[6], fields[8]]), [])


if __name__ == "__main__":
    unittest.main()
