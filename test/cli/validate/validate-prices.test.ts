import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keyplane } from "../up.ts";

const GOOD = "currency: USD\nprices:\n  - {model: gpt, from: 2026-01-01, input: 1}\n";
let file: string;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyplane-validate-prices-"));
  file = join(folder, "prices.yml");
});
afterAll(() => rm(folder, { recursive: true }));

describe("keyplane validate --price-list", () => {
  test("passes a price list that a server would take", async () => {
    await writeFile(file, GOOD);
    expect(await keyplane(["validate", "--price-list", file])).toEqual({
      code: 0,
      out: `${file}: a price list\n`,
      err: "",
    });
  });

  test("names each fault by its line and field, and ends with 1, for a program too", async () => {
    await writeFile(file, GOOD.replace("input: 1", "inputs: -1, output: -1"));
    const { code, out } = await keyplane(["validate", "--price-list", file]);
    expect(code).toBe(1);
    expect(out).toContain(`${file}:3:`);
    expect(out).toContain("error: prices[0].inputs: is no field of a price list");
    expect(out).toContain("error: prices[0].output: must be a price");
    expect(out).toContain(`${file}: a price list with 2 errors\n`);
    const json = await keyplane(["validate", "--price-list", file, "-o", "json"]);
    expect([json.code, JSON.parse(json.out)]).toMatchObject([1, { errors: 2, diagnostics: [{ file, line: 3 }, {}] }]);
  });

  test("of a file that is not there is wrong use", async () => {
    expect(await keyplane(["validate", "--price-list", folder])).toMatchObject({
      code: 2,
      err: expect.stringContaining("that is a folder: name the file"),
    });
    expect(await keyplane(["validate", "--price-list", join(folder, "none.yaml")])).toMatchObject({
      code: 2,
      err: expect.stringContaining("there is no such file"),
    });
    expect(await keyplane(["validate", "--price-list", "-"])).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        "--price-list -: standard input is not read here: write it to a file, and name that",
      ),
    });
  });

  test("goes with manifests, and what is in their folder is another matter", async () => {
    await writeFile(file, GOOD);
    const { code, out } = await keyplane(["validate", "--price-list", file, "-f", "examples/kubernetes"]);
    expect(out.split("\n").slice(0, -1).at(-2)).toBe(`${file}: a price list`);
    expect([code, out]).toEqual([0, expect.stringContaining("0 errors")]);
  });
});
