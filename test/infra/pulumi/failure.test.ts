import { expect, test } from "vitest";
import { Refusal } from "../../../infra/pulumi/provider/api/refusal.ts";
import { failureOf } from "../../../infra/pulumi/provider/failure.ts";

const subject = { type: "keyplane:index:PlatformKey", noun: "key", resource: "reader", name: "reader" };

test.for([
  ["in its detail", { code: "conflict", detail: "inf_0123456789abcdef is taken." }],
  ["in what is wrong with a field", { code: "invalid", errors: [{ path: "spec.x", message: "inf_0123456789abcdef" }] }],
  ["with a code that we do not know", { code: "teapot", detail: "no inf_0123456789abcdef" }],
] as const)("b75: a refusal that quotes a key, %s, is said without it", ([, body]) => {
  const { details } = failureOf(new Refusal(400, body), subject, []);
  expect(details).toContain("inf_...");
  expect(details).not.toContain("inf_0");
});

test.for([0, 1])(
  "an error that is cut in the middle of a character is sent as text, whichever half is left",
  (length) => {
    const message = `${"x".repeat(length)}${"\u{1f511}".repeat(2_000)}`;
    const { details } = failureOf(
      new Refusal(422, { code: "invalid", errors: [{ path: "spec.x", message }] }),
      subject,
      [],
    );
    // As gRPC writes it into a header.
    expect(encodeURI(details ?? "")).toContain("%F0%9F%94%91");
  },
);

test("what a manifest has taken over is to leave the state, and not to be removed there, which would end it", () => {
  const { details } = failureOf(new Refusal(409, { code: "managed", detail: "A manifest declares it." }), subject, []);
  expect(details).toContain("after `pulumi state delete`, which leaves the key as it is");
});

test("c118: a name that is taken leads to aliases before an import, which a deletion of the same resource would follow", () => {
  const { details = "" } = failureOf(new Refusal(409, { code: "exists", id: "key_a" }), subject, []);
  expect(details).toMatch(
    /give this one `aliases` with that: .*`pulumi import keyplane:index:PlatformKey reader key_a`/s,
  );
});
