import { execFileSync } from "node:child_process";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../../runtime/log.ts";
import { openPrices } from "../../../server/usage/price-file.ts";
import { until } from "../../env/until.ts";

const list = (input: string) => `currency: USD\nprices:\n  - {model: gpt, from: 2026-01-01, input: ${input}}\n`;

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyplane-prices-"));
  file = join(folder, "prices.yaml");
});
afterEach(() => rm(folder, { recursive: true }));

async function replace(text: string) {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

/** Gives the next read of the file this text, and returns once it has it. */
async function passOnce(text: string) {
  execFileSync("mkfifo", [`${file}.new`]);
  await rename(`${file}.new`, file);
  await writeFile(file, text);
}

describe("The file of prices", () => {
  test("is read again as it changes; while it has a fault, the last list is used and the log says so, once", async () => {
    const lines: string[] = [];
    await writeFile(file, list("1"));
    const prices = await openPrices(file, createLog("info", { write: (line) => lines.push(line) }));
    try {
      const inputOf = () => prices.current()?.entries[0]?.prices.input;
      const first = prices.current()?.version;
      await replace(list("2"));
      await until("the corrected list is used", () => inputOf() === 2_000_000n);
      expect(lines).toEqual([expect.stringContaining(`as it is now: ${prices.current()?.version}`)]);
      expect(prices.current()?.version).not.toBe(first);
      await replace(list("-1"));
      await until("the fault is logged", () => lines.length > 1);
      expect(inputOf()).toBe(2_000_000n);
      expect(lines[1]).toContain("are still used");
      expect(lines[1]).toContain(`--prices: ${file}:3: prices[0].input: must be a price`);
      await rm(file);
      await until("that it is gone is logged", () => lines.length > 2);
      expect(lines[2]).toContain("cannot be read (ENOENT)");
      expect(inputOf()).toBe(2_000_000n);
    } finally {
      await prices.close();
    }
  });

  test("is not used while half of it is written, which can be a list of its own", async () => {
    await writeFile(file, list("1"));
    const prices = await openPrices(file);
    try {
      const inputOf = () => prices.current()?.entries[0]?.prices.input;
      await passOnce(list("25").replace("5}", "}"));
      // The read before was done once the next one begins.
      await passOnce(list("25"));
      expect(inputOf()).toBe(1_000_000n);
      await replace(list("25"));
      await until("the whole list is used", () => inputOf() === 25_000_000n);
    } finally {
      await prices.close();
    }
  });

  test("that has a fault or is not there starts nothing", async () => {
    await expect(openPrices(file)).rejects.toThrow(`--prices: ${file} cannot be read (ENOENT)`);
    await writeFile(file, "prices: []");
    await expect(openPrices(file)).rejects.toThrow(`--prices: ${file}:1: the currency is missing`);
  });

  test("that is not given is no fault: nothing is priced", async () => {
    const prices = await openPrices(null);
    expect(prices.current()).toBeNull();
    await prices.close();
  });
});
