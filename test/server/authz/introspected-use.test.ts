/** With an overlap by adoption a version whose uses are not noted is taken for left (docs/decisions/adoption.md). */
import { expect, test } from "vitest";
import { startVerifier } from "./verifier-harness.ts";

test.each(["/introspect", "/introspect/unmetered"])(
  "b436: an old version that a service asks about at %s counts as used, and is charged nothing",
  async (path) => {
    const verifier = await startVerifier();
    const old = verifier.addKey({ version: 1, versionState: "retiring" });
    const answer = await verifier.ask({
      method: "POST",
      path,
      headers: ["Content-Type: application/x-www-form-urlencoded"],
      body: new URLSearchParams({ token: old }).toString(),
    });
    const { keyId } = verifier.recordOf(old);
    const used = verifier.used.map(({ key, ip }) => ({ keyId: key.keyId, version: key.version, ip }));
    await verifier.close();
    expect(JSON.parse(answer.body)).toMatchObject({ active: true });
    expect(used).toEqual([{ keyId, version: 1, ip: "introspection" }]);
    expect(verifier.counted).toEqual([]);
  },
);

test("b436: a key that introspection calls inactive does not count as used", async () => {
  const verifier = await startVerifier();
  const bound = verifier.addKey({ boundGatewayId: "g" });
  await verifier.ask({
    method: "POST",
    path: "/introspect",
    headers: ["Content-Type: application/x-www-form-urlencoded"],
    body: new URLSearchParams({ token: bound }).toString(),
  });
  await verifier.close();
  expect(verifier.used).toEqual([]);
});
