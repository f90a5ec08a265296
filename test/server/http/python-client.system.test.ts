import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import { startHarness } from "../harness.ts";

test("b82: Python's urllib is shown the refusal of a large upload, and no reset", async (context) => {
  const harness = await startHarness({ mounts: products() });
  context.onTestFinished(() => harness.close());
  const key = harness.addKey();
  const script = `
import sys, urllib.request, urllib.error
for size in (10_000, 5_000_000):
    for key in ("none", sys.argv[2]):
        request = urllib.request.Request(sys.argv[1] + "/atoms", data=b" " * size, method="POST",
            headers={"X-API-Key": key, "Content-Type": "text/csv" if size < 1_000_000 else "application/json"})
        try:
            print(urllib.request.urlopen(request).status)
        except urllib.error.HTTPError as error:
            print(error.code, len(error.read()) > 0)
`;
  const { stdout } = await promisify(execFile)("python3", ["-c", script, harness.url, key]);
  expect(stdout.trim().split("\n")).toEqual(["401 True", "415 True", "401 True", "413 True"]);
});
