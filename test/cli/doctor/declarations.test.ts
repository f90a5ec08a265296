import { expect, test } from "vitest";
import { judgeDeclarations } from "../../../cli/doctor/declarations.ts";

const key = (name: string, ready?: { readonly status: "True" | "False"; readonly reason: string }) => ({
  metadata: { namespace: "team-a", name },
  status: ready && {
    conditions: [{ type: "Ready", message: `Of ${name}.`, lastTransitionTime: "2026-11-01T00:00:00Z", ...ready }],
  },
});

const told = (...keys: ReturnType<typeof key>[]) =>
  judgeDeclarations("PlatformKey", keys).map(({ severity, message }) => `${severity} ${message}`);

test("doctor names what is declared and not ready by its reason, a few of many", () => {
  const many = Array.from({ length: 7 }, (_, i) => key(`k${i}`, { status: "False", reason: "SecretUnreadable" }));
  expect(told(...many, key("new"))).toEqual([
    "error PlatformKey team-a/k0, team-a/k1, team-a/k2, team-a/k3, team-a/k4 and 2 more: not ready: SecretUnreadable: Of k0.",
    "error PlatformKey team-a/new: not ready: Pending: no controller has been there",
  ]);
});

test("doctor finds nothing wrong with what is ready, has expired or was revoked", () => {
  const fine = key("fine", { status: "True", reason: "Ready" });
  const ended = ["Expired", "Revoked"].map((reason) => key(reason, { status: "False", reason }));
  expect(told(fine, ...ended)).toEqual([]);
});
