"""Every kernel module is a knob of a profile that mounts it: the knob's variable, values and proofs are those of the module."""

import glob
import os
import re
import unittest

from modules_support import MODULES, ROOT, load

PROFILES = sorted(glob.glob(os.path.join(ROOT, "..", "..", "profiles", "*.env")))


def entries(path):
    """KEY=value lines of a profile, quotes taken off."""
    with open(path, encoding="utf-8") as file:
        text = file.read().replace("\\\n", "")
    lines = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {key: value.strip().strip("\"'") if value[:1] in "\"'" else value.split(" #")[0] for key, value in lines}


def knobs_of(variable, folder):
    """Where profiles that mount the module set its variable: (profile, knob, its entries)."""
    found = []
    for path in PROFILES:
        all_entries = entries(path)
        if folder not in all_entries.get("MODULES", "").split():
            continue
        knobs = [key[:-4] for key, value in all_entries.items() if key.endswith(".env") and value == variable]
        found.append((os.path.basename(path), knobs[0] if len(knobs) == 1 else None, all_entries))
    return found


class Profiles(unittest.TestCase):
    def test_every_module_is_mounted_somewhere_with_one_knob(self):
        for name, (folder, variable) in MODULES.items():
            found = knobs_of(variable, folder)
            self.assertTrue(found, f"no profile mounts {folder}")
            for profile, knob, _ in found:
                self.assertIsNotNone(knob, f"{profile} mounts {folder} and has no knob, or two, for {variable}")

    def test_each_value_is_one_that_the_module_knows_and_the_default_is_off(self):
        for name, (folder, variable) in MODULES.items():
            for profile, knob, all_entries in knobs_of(variable, folder):
                values = all_entries[f"{knob}.values"].split()
                for value in values:
                    module = load(name, value).MODULE
                    self.assertIsNone(module.reason, f"{profile}: {knob}={value}")
                    self.assertEqual(module.armed, value != all_entries[knob], f"{profile}: {knob}={value}")
                self.assertGreaterEqual(len(values), 2)

    def test_off_is_proved_by_the_module_s_word_and_other_values_by_what_it_says_when_it_serves(self):
        for name, (folder, variable) in MODULES.items():
            with open(os.path.join(ROOT, folder, f"{name}.py"), encoding="utf-8") as file:
                said = re.findall(r"say\(f?\"(serves.*?)[({\"]", file.read())
            for profile, knob, all_entries in knobs_of(variable, folder):
                for value in all_entries[f"{knob}.values"].split():
                    proof = all_entries[f"{knob}.proof.{value}"]
                    with self.subTest(profile=profile, proof=proof):
                        if value == all_entries[knob]:
                            self.assertEqual(proof, f"log: {name}: off$")
                        elif value == "shadow":
                            self.assertEqual(proof, f"log: {name}: shadow: no number differs")
                        else:
                            words = proof.removeprefix(f"log: {name}: ")
                            self.assertTrue(any(line.startswith(words) or words.startswith(line.strip()) for line in said if line), (words, said))
                            self.assertTrue(words.startswith("serves"))


if __name__ == "__main__":
    unittest.main()
