import { afterAll, beforeAll, expect, test } from "vitest";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../server/management/routes.ts";
import { type Harness, startHarness } from "../harness.ts";

const TOKEN = "kpt_the-token";

let harness: Harness;
beforeAll(async () => {
  const token = managementToken("bootstrap-token", TOKEN);
  harness = await startHarness({ mounts: [{ at: "/api/v1", routes: managementRoutes }], managementToken: token });
});
afterAll(() => harness.close());

test.each<[method: string, path: string, body: object | undefined, says: string]>([
  ["POST", "/teams/any/revoked-subjects", { subject: "jürgen" }, '"subject" must be ASCII'],
  ["POST", "/keys", { name: "a", team: "t", spec: {}, managedBy: "terraform" }, '"managedBy" is no URN of Pulumi'],
  ["GET", "/audit-events?from=yesterday", undefined, '"from" is no time: write it as RFC 3339 has it'],
  ["GET", "/audit-events?about=%00", undefined, '"about" must not contain a NUL character'],
])("%s %s %j is refused by what is to be written there", async (method, path, body, says) => {
  const answer = await fetch(`${harness.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect([answer.status, await answer.json()]).toEqual([
    400,
    expect.objectContaining({ detail: expect.stringContaining(says) }),
  ]);
});
