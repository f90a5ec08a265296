import { expect, test } from "vitest";
import { parsePriceList } from "../../../domain/usage/parse-price-list.ts";
import type { PriceList } from "../../../domain/usage/price-list.ts";
import { CallPricer } from "../../../server/usage/call-pricer.ts";

const NOW = Date.UTC(2026, 10, 15);

function listOf(text: string): PriceList {
  const read = parsePriceList(text);
  if ("faults" in read) throw new Error(read.faults.map(({ message }) => message).join());
  return read.list;
}

test("calls are priced by the list as it is, and by the day", () => {
  let list: PriceList | null = null;
  const pricer = new CallPricer({ current: () => list });
  expect([pricer.at(NOW).currency, pricer.at(NOW).of(["fast"])]).toEqual([null, undefined]);
  list = listOf(`currency: EUR
prices:
  - { model: fast, from: 2026-01-01, input: 1, output: 2 }
  - { model: fast, from: 2026-12-01, input: 3, output: 4 }`);
  expect([pricer.at(NOW).currency, pricer.at(NOW).of(["fast"])?.read]).toEqual(["EUR", 1]);
  expect(pricer.at(Date.UTC(2026, 11, 1)).of(["fast"])?.read).toBe(3);
  list = listOf("currency: EUR\nprices: [{ model: fast, from: 2026-01-01, input: 5 }]");
  expect(pricer.at(NOW).of(["fast"])?.read).toBe(5);
});

test("a call whose model is not known, or one of whose models has no price, has none", () => {
  const list = listOf("currency: EUR\nprices: [{ model: fast, from: 2026-01-01, input: 5 }]");
  const pricer = new CallPricer({ current: () => list });
  expect([pricer.at(NOW).of([undefined]), pricer.at(NOW).of(["fast", "slow"]), pricer.at(NOW).of([])]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  // Names are callers': many of them, again and again, change nothing.
  for (let i = 0; i < 3_000; i++) pricer.at(NOW).of([`model-${i}`]);
  expect(pricer.at(NOW).of(["fast"])?.read).toBe(5);
});
