// The program of a customer is compiled with different settings.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const COMPILE =
  "tsc test/customer.ts --noEmit --strict --exactOptionalPropertyTypes --skipLibCheck --types node " +
  "--target es2022 --esModuleInterop";

for (const [module, resolution] of [
  ["nodenext", "nodenext"],
  ["commonjs", "node10"],
]) {
  test(`options may be undefined, with the resolution ${resolution}`, () => {
    const settings = ["--module", module, "--moduleResolution", resolution];
    const { status, stdout } = spawnSync("npx", [...COMPILE.split(" "), ...settings], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  });
}
