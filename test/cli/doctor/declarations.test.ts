import { expect, test } from "vitest";
import { allReady, judgeDeclarations, listDeclarations } from "../../../cli/doctor/declarations.ts";

const key = (name: string, ready?: { readonly status: "True" | "False"; readonly reason: string }) => ({
  metadata: { namespace: "team-a", name },
  status: ready && {
    conditions: [{ type: "Ready", message: `Of ${name}.`, lastTransitionTime: "2026-11-01T00:00:00Z", ...ready }],
  },
});

const findings = (...keys: ReturnType<typeof key>[]) =>
  judgeDeclarations("PlatformKey", keys, "Do so.").map(({ severity, message }) => `${severity} ${message}`);

test("doctor names what is declared and not ready by its reason, a few of many", () => {
  const many = Array.from({ length: 7 }, (_, i) => key(`k${i}`, { status: "False", reason: "SecretUnreadable" }));
  expect(findings(...many, key("new"))).toEqual([
    "error PlatformKey team-a/k0, team-a/k1, team-a/k2, team-a/k3, team-a/k4 and 2 more: not ready: SecretUnreadable: Of k0.",
    "error PlatformKey team-a/new: not ready: Pending: No controller has reconciled it yet. See that a Keyplane controller runs and serves this namespace.",
  ]);
});

test("doctor looks at what is declared in the namespaces that the controller serves, and at no other", async () => {
  const asked: string[] = [];
  const request = async ({ path }: { readonly path: string }) => {
    asked.push(path.replace("/apis/keyplane.dev/v1alpha1/", ""));
    return { items: [] };
  };
  await listDeclarations({ request }, ["team-a", "team-b"]);
  expect(asked).toEqual([
    ...["namespaces/team-a/platformkeys", "namespaces/team-b/platformkeys"],
    "platformteams",
    "platformkeypolicies",
    ...["namespaces/team-a/modelgateways", "namespaces/team-b/modelgateways"],
    ...["namespaces/team-a/memorylibraries", "namespaces/team-b/memorylibraries"],
  ]);
});

test("doctor finds nothing wrong with what is ready, has expired, was revoked or is being deleted", () => {
  const fine = key("fine", { status: "True", reason: "Ready" });
  const ended = ["Expired", "Revoked", "Deleting"].map((reason) => key(reason, { status: "False", reason }));
  expect(findings(fine, ...ended)).toEqual([]);
  expect(allReady([fine, ...ended]).message).toBe("1 declarations are ready, 3 have ended");
  expect(allReady([fine, fine]).message).toBe("2 declarations are ready");
});

test("doctor takes no fault in a change that servers have not confirmed yet", () => {
  const waiting = key("new", { status: "False", reason: "Confirming" });
  expect(judgeDeclarations("PlatformKey", [waiting], "Do so.")).toMatchObject([
    { severity: "note", action: "wait; a server that is silent is named under replicas" },
  ]);
});
