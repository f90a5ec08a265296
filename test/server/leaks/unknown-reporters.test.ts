import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { until } from "../../env/until.ts";
import { auditOfKey } from "../../store/questions.ts";
import { TOKEN } from "../management/api.ts";
import { withoutRequestIds } from "../request-ids.ts";
import { type Installation, sha256, startInstallation } from "./installation.ts";

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.close());

const JSON_TYPE = { "content-type": "application/json" };
const report = (...leaks: object[]) => JSON.stringify({ leaks });
const matches = (...tokens: string[]) =>
  JSON.stringify(
    tokens.map((token) => ({ token, type: "keyplane", url: "https://github.com/a/b", source: "content" })),
  );

/** The metric of reports by unknown callers, by their outcome. */
async function counted(outcome: string): Promise<number> {
  const { adminUrl } = installation.api;
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = `keyplane_leaks_reported_total{reporter="anonymous",outcome="${outcome}"} `;
  return Number(
    text
      .split("\n")
      .find((one) => one.startsWith(line))
      ?.slice(line.length) ?? 0,
  );
}

describe("a leak that an unknown caller reports", () => {
  test("b99: has one answer, whatever was sent", async () => {
    const active = await installation.makeKey("alerting");
    const bodies: [string | Uint8Array<ArrayBuffer>, Record<string, string>][] = [
      [report({ key: active.secret }), JSON_TYPE],
      [report({ sha256: sha256(active.secret) }), JSON_TYPE],
      [matches(active.secret), JSON_TYPE],
      [report({ key: mintKey(randomBytes) }), JSON_TYPE],
      [report({ key: mintKey(randomBytes) }), { ...JSON_TYPE, authorization: "Bearer wrong" }],
      [report({ key: mintKey(randomBytes) }), { ...JSON_TYPE, authorization: `Bearer ${active.secret}` }],
      [report(), JSON_TYPE],
      [report(...Array(101).fill({ key: active.secret })), JSON_TYPE],
      ["{", JSON_TYPE],
      ["", {}],
      ["x=y", { "content-type": "application/x-www-form-urlencoded" }],
      [new Uint8Array(1 << 19), { "content-type": "no/such; type" }],
      [report({ key: mintKey(randomBytes) }), { ...JSON_TYPE, "content-encoding": "gzip" }],
    ];
    const answers = [];
    for (const [body, headers] of bodies) {
      const answer = await installation.post(body, headers);
      const { date: _, ...shown } = Object.fromEntries(answer.headers);
      answers.push({ status: answer.status, shown, text: answer.text });
    }
    expect(new Set(withoutRequestIds(answers).map((answer) => JSON.stringify(answer)))).toHaveLength(1);
    expect(answers[0]).toMatchObject({ status: 202, text: '{"status":"received"}' });
    // A body that is too large is not read to its end, so that its connection ends: its answer says no more.
    for (const size of [2 << 20, 10 << 20]) {
      const { status, text } = await installation.post(new Uint8Array(size), JSON_TYPE);
      expect({ status, text }).toEqual({ status: 202, text: answers[0]?.text });
    }
  });

  test("b100: holds no more memory than sixteen MiB, however much is sent at once, and is taken again afterwards", async () => {
    const answered: number[] = [];
    const sent = Array.from({ length: 24 }, () => {
      const one = request(`${installation.api.url}/api/v1/leaks`, {
        method: "POST",
        headers: { "content-length": 1 << 20 },
      });
      one.on("response", ({ statusCode = 0 }) => answered.push(statusCode));
      one.on("error", () => {});
      one.write(Buffer.alloc((1 << 20) - 1, " "));
      return one;
    });
    await until("some have their answer before their end", () => answered.length > 4);
    expect(new Set(answered)).toEqual(new Set([202]));
    expect(answered.length).toBeLessThan(24);
    for (const one of sent) one.destroy();
    const { secret } = await installation.makeKey("revoking");
    await until("reports are taken again", async () => {
      await installation.post(report({ key: secret }));
      return (await installation.api.tryKey(secret)) === 401;
    });
  });

  test("b100: crowds out no other by a body that is held back: of those, the oldest makes room", async () => {
    const answered: number[] = [];
    const heldBack = Array.from({ length: 17 }, () => {
      const one = request(`${installation.api.url}/api/v1/leaks`, {
        method: "POST",
        headers: { "content-length": 1 << 20 },
      });
      one.on("response", ({ statusCode = 0 }) => answered.push(statusCode));
      one.on("error", () => {});
      one.write(Buffer.alloc((1 << 20) - 1, " "));
      return one;
    });
    await until("there is no more room", () => answered.length === 1);
    const { secret } = await installation.makeKey("revoking");
    await installation.post(report({ key: secret }));
    await until("it is refused", async () => (await installation.api.tryKey(secret)) === 401);
    expect(answered).toEqual([202, 202]);
    for (const one of heldBack) one.destroy();
  });

  test("is asked for of a client that waits to be asked", async () => {
    const asked = request(`${installation.api.url}/api/v1/leaks`, {
      method: "POST",
      headers: { expect: "100-continue" },
    });
    asked.once("continue", () => asked.end(report()));
    asked.flushHeaders();
    const [answer] = await once(asked, "response");
    answer.resume();
    expect(answer.statusCode).toBe(202);
  });

  test.each(["keyplane", "github"])(
    "b100: revokes the key where its team says so, in the format of %s",
    async (format) => {
      const { id, prefix, secret } = await installation.makeKey("theirs");
      await installation.post(format === "github" ? matches(secret) : report({ key: secret }), JSON_TYPE);
      await until("it is refused", async () => (await installation.api.tryKey(secret)) === 401);
      const [leaked, revoked] = (await auditOfKey(installation.store.db, id)).slice(-2);
      expect(leaked).toMatchObject({ kind: "key.leaked", actor: "anonymous" });
      expect(leaked?.detail).toEqual({ version: 1, prefix, reporter: "anonymous", address: "127.0.0.1" });
      expect(revoked).toMatchObject({ kind: "key.revoked", actor: "anonymous", detail: { reason: "Leaked" } });
    },
  );

  test("b100: is reported to the team, and no more, where its spec says nothing", async () => {
    const { id, secret } = await installation.makeKey("alerting");
    await installation.post(report({ key: secret }));
    await until("it is reported", async () =>
      (await auditOfKey(installation.store.db, id)).some(({ kind }) => kind === "key.leaked"),
    );
    expect(await installation.api.tryKey(secret)).toBe(200);
  });

  test("b100: acts on whole keys alone, never on a hash, a prefix or a key with a wrong checksum", async () => {
    const { id, prefix, secret } = await installation.makeKey("revoking");
    const other = await installation.makeKey("revoking");
    const mistyped = `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`;
    const before = await counted("unknown");
    await installation.post(report({ sha256: sha256(secret) }, { key: prefix }, { key: mistyped }));
    // What comes after it was acted on.
    await installation.post(report({ key: other.secret }));
    await until("the other is revoked", async () => (await installation.api.tryKey(other.secret)) === 401);
    expect(await counted("unknown")).toBe(before + 3);
    expect(await installation.api.tryKey(secret)).toBe(200);
    expect((await auditOfKey(installation.store.db, id)).map(({ kind }) => kind)).not.toContain("key.leaked");
  });

  test("b99: leaves nothing of what was sent in the log, the audit log or the metrics, whatever its sender", async () => {
    const { id, secret } = await installation.makeKey("alerting");
    const body = report({ key: secret }, { key: `inf_${secret.slice(4, 50)}` });
    for (const text of [body, `${body}{`, matches(secret), `[${body}`]) {
      await installation.post(text, JSON_TYPE);
      await installation.post(text, { ...JSON_TYPE, authorization: `Bearer ${TOKEN}` });
    }
    const events = async () => installation.store.db.selectFrom("audit_events").selectAll().execute();
    await until("it is reported", async () =>
      (await events()).some((row) => row.key_id === id && row.kind === "key.leaked"),
    );
    const rows = await events();
    const metrics = await (await fetch(`${installation.api.adminUrl}/metrics`)).text();
    for (const kept of [JSON.stringify(rows), installation.api.lines.join("\n"), metrics]) {
      expect(kept).not.toContain(secret.slice(12, 40));
      expect(kept).not.toContain(sha256(secret));
    }
  });

  test("b99: is answered as all are with an invalid credential, which is recorded as elsewhere", async () => {
    const refused = async () => {
      const text = await (await fetch(`${installation.api.adminUrl}/metrics`)).text();
      return Number(/^keyplane_refusals_total\{cause="no_management_token"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const before = await refused();
    expect((await installation.post(report(), JSON_TYPE)).status).toBe(202);
    expect((await installation.post(report(), { ...JSON_TYPE, authorization: "Basic d3Jvbmc=" })).status).toBe(202);
    expect(await refused()).toBe(before + 1);
  });
});
