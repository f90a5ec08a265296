import { expect, test } from "vitest";
import { namedFirst } from "../../../../../memory/store/search/ranking/named-first.ts";

const TEXTS = ["Written in C.", "Written in C#.", "Written in C++.", "It runs on .net.", "The net is torn."];
const orderedFor = (query: string) =>
  namedFirst(
    TEXTS.map((text) => ({ text })),
    query,
  ).map(({ text }) => text);

test("what has a name with its marks comes before what has its letters, and nothing else moves", () => {
  expect(orderedFor("c++ codec")).toEqual([TEXTS[2], TEXTS[0], TEXTS[1], TEXTS[3], TEXTS[4]]);
  expect(orderedFor("C#")[0]).toBe("Written in C#.");
  expect(orderedFor(".NET")[0]).toBe("It runs on .net.");
  expect(orderedFor('"C#" or "C++"')).toEqual([TEXTS[1], TEXTS[2], TEXTS[0], TEXTS[3], TEXTS[4]]);
});

test("an identifier that is asked for alone is the same however it is parted", () => {
  const texts = ["Read the timeout in ms.", "read_timeout_ms is 20", "readTimeoutMs: 20", "--read-timeout-ms 20"];
  const orderOf = (query: string) =>
    namedFirst(
      texts.map((text) => ({ text })),
      query,
    ).map(({ text }) => texts.indexOf(text));
  for (const query of ["readTimeoutMs", "read_timeout_ms", "read-timeout-ms"])
    expect(orderOf(query)).toEqual([1, 2, 3, 0]);
  expect(orderOf("read-timeout-ms of the gateway"), "beside other words it is words").toEqual([0, 1, 2, 3]);
});

test("a version is the same with a v and with a nought behind it", () => {
  const texts = ["In 12 days", "Version 1.20", "Version 1.2", "v1.2.0 was tagged", "1.2.1"];
  const orderOf = (query: string) =>
    namedFirst(
      texts.map((text) => ({ text })),
      query,
    ).map(({ text }) => texts.indexOf(text));
  for (const query of ["v1.2.0", "version 1.2", "v1.2"]) expect(orderOf(query), query).toEqual([2, 3, 0, 1, 4]);
});

test("a full stop, a host and what is excluded are no names", () => {
  for (const query of ["written in c. net", "example.net", "net -C#", "C"])
    expect(orderedFor(query), query).toEqual(TEXTS);
});

test("a text of letters, full stops or marks is gone through once", () => {
  for (const text of [
    "c".repeat(100_000),
    ".".repeat(100_000),
    "+".repeat(100_000),
    ".c".repeat(50_000),
    `1${".0".repeat(50_000)}1`,
  ]) {
    expect(namedFirst([{ text }], "C++")).toEqual([{ text }]);
  }
}, 1_000);
