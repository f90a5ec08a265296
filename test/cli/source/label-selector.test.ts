import { describe, expect, test } from "vitest";
import { parseLabelSelector } from "../../../cli/source/label-selector.ts";

const labels = { app: "web", "example.com/tier": "front", empty: "" };

describe("a label selector", () => {
  test.each([
    ["app=web", true],
    ["app==web", true],
    ["app = web", true],
    ["app=api", false],
    ["app!=web", false],
    ["app!=api", true],
    // As in kubectl, what lacks the label has no such value.
    ["team!=a", true],
    ["app", true],
    ["team", false],
    ["!app", false],
    ["! team", true],
    ["empty=", true],
    ["empty", true],
    ["app in (web, api)", true],
    ["app in (api)", false],
    ["team in (a)", false],
    ["app notin (web,api)", false],
    ["app notin (api)", true],
    ["team notin (a)", true],
    ["empty in (a,)", true],
    ["app=web,example.com/tier in (front,back),!team", true],
    ["app=web,example.com/tier=back", false],
    // Not what every object has.
    ["constructor", false],
  ])("%s: %s", (text, isMet) => {
    expect(parseLabelSelector(text)?.matches(labels)).toBe(isMet);
  });

  test.each([
    "",
    ",",
    "app=web,",
    "app=a=b",
    "app in web",
    "app in (web",
    "app<3",
    "-app",
    "a b",
    "app=we/b",
    "app=(a)",
  ])("%j is none, and the message shows some", (text) => {
    expect(() => parseLabelSelector(text)).toThrow(/^-l ".*": write label selectors .* app=web/);
  });

  test("is none where none is given", () => {
    expect(parseLabelSelector(undefined)).toBeUndefined();
  });
});
