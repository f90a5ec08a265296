import { expect, test } from "vitest";
import { UpstreamBreaker } from "../../../../server/gateway/upstream/upstream-breaker.ts";

let now = 0;
const opened = (): UpstreamBreaker => {
  now = 0;
  const breaker = new UpstreamBreaker(() => now);
  for (let i = 0; i < 5; i++) breaker.failed(breaker.begin());
  return breaker;
};

test("five failures in a row leave an upstream out, and four with an answer among them do not", () => {
  const breaker = new UpstreamBreaker(() => 0);
  const fail = () => breaker.failed(breaker.begin());
  for (let i = 0; i < 4; i++) expect(fail()).toBeUndefined();
  breaker.succeeded(breaker.begin());
  for (let i = 0; i < 4; i++) expect(fail()).toBeUndefined();
  expect(breaker.isLeftOut).toBe(false);
  expect([fail(), breaker.isLeftOut]).toEqual([5_000, true]);
});

test("b405: one call at a time tries it once the time is over, which doubles up to a minute", () => {
  const breaker = opened();
  const times: (number | undefined)[] = [];
  for (let wait = 5_000; times.length < 6; wait = times.at(-1) ?? 0) {
    now += wait - 1;
    expect(breaker.isLeftOut).toBe(true);
    now += 1;
    expect(breaker.isLeftOut).toBe(false);
    const trial = breaker.begin();
    expect(breaker.isLeftOut).toBe(true);
    expect(breaker.failed(breaker.begin())).toBeUndefined();
    times.push(breaker.failed(trial));
  }
  expect(times).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
});

test("a try that is answered brings it back, with the first time once more", () => {
  const breaker = opened();
  now = 5_000;
  breaker.failed(breaker.begin());
  now = 15_000;
  breaker.succeeded(breaker.begin());
  expect(breaker.isLeftOut).toBe(false);
  const waits = Array.from({ length: 5 }, () => breaker.failed(breaker.begin()));
  expect(waits).toEqual([undefined, undefined, undefined, undefined, 5_000]);
});

test("b405: a try that ends without an outcome leaves it to the next call, and keeps the upstream out no longer", () => {
  const breaker = opened();
  now = 5_000;
  const trial = breaker.begin();
  breaker.givenUp(trial);
  expect(breaker.isLeftOut).toBe(false);
  breaker.begin();
  breaker.givenUp(trial);
  expect(breaker.isLeftOut).toBe(true);
});

test("calls that began before it was left out, or before it came back, change nothing", () => {
  now = 0;
  const breaker = new UpstreamBreaker(() => now);
  const slow = breaker.begin();
  for (let i = 0; i < 5; i++) breaker.failed(breaker.begin());
  for (let i = 0; i < 20; i++) expect(breaker.failed(slow)).toBeUndefined();
  breaker.succeeded(slow);
  expect(breaker.isLeftOut).toBe(true);
  const meanwhile = breaker.begin();
  now = 5_000;
  breaker.succeeded(breaker.begin());
  for (let i = 0; i < 20; i++) expect(breaker.failed(meanwhile)).toBeUndefined();
  expect(breaker.isLeftOut).toBe(false);
});

test("a call that had no other upstream, and is answered, brings it back before its time", () => {
  const breaker = opened();
  const only = breaker.begin();
  expect(breaker.isLeftOut).toBe(true);
  breaker.succeeded(only);
  expect(breaker.isLeftOut).toBe(false);
});

test("b405: a try that does not end keeps others out for a minute, and any answer since brings the upstream back", () => {
  const breaker = opened();
  now = 5_000;
  const endless = breaker.begin();
  now += 59_999;
  expect(breaker.isLeftOut).toBe(true);
  now += 1;
  expect(breaker.isLeftOut).toBe(false);
  breaker.begin();
  expect(breaker.isLeftOut).toBe(true);
  breaker.succeeded(endless);
  expect(breaker.isLeftOut).toBe(false);
});

test("b405: the retries of one call leave nothing out", () => {
  const breaker = new UpstreamBreaker(() => 0);
  breaker.failed(breaker.begin());
  for (let i = 0; i < 20; i++) expect(breaker.failed(breaker.begin(), true)).toBeUndefined();
  expect(breaker.isLeftOut).toBe(false);
});
