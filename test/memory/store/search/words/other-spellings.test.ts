import { expect, test } from "vitest";
import {
  joinedWords,
  otherSpellings,
  partedAtDigits,
} from "../../../../../memory/store/search/words/other-spellings.ts";

test("a short name and what it stands for are spellings of each other, and so is a number with a v", () => {
  expect(otherSpellings("k8s")).toEqual(["kubernetes"]);
  expect(otherSpellings("kubernetes")).toEqual(["k8s"]);
  expect(otherSpellings("26")).toEqual(["v26"]);
  expect(otherSpellings("v26")).toEqual(["26"]);
  expect(otherSpellings("v26b")).toEqual([]);
});

test("what a hyphen, a dot or an underscore parts is read in one too", () => {
  expect(joinedWords("The Wi-Fi of Node.js, read_timeout_ms")).toEqual(["wifi", "nodejs", "readtimeoutms"]);
});

test("a word parts where its letters meet its digits", () => {
  expect(partedAtDigits("utf8").map(({ text }) => text)).toEqual(["utf", "8"]);
  expect(partedAtDigits("harbour")).toEqual([]);
});

test("a word of a hundred thousand letters is gone through once", () => {
  expect(joinedWords("x".repeat(100_000))).toEqual([]);
}, 1_000);
