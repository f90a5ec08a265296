import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { checkDatabaseAtStart } from "../../processes/database-check.ts";
import { createLog } from "../../runtime/log.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { readUpstreamCredential, saveGateway } from "../../store/gateways/gateways.ts";
import { deregisterReplica, registerReplica } from "../../store/replicas/replicas.ts";
import { describeOnPostgres } from "../env/database/engines.ts";
import { gatewayDraft, makeTeam, run } from "../store/fixtures.ts";

describeOnPostgres("the database at a server's start", (opened) => {
  test("c119: takes the first encryption key without a controller, once every server has it", async () => {
    const store = opened();
    const lines: string[] = [];
    const log = createLog("warn", { write: (line: string) => void lines.push(line) });
    const [a, b] = [0, 1].map(() => randomBytes(32).toString("base64"));
    const current = async () =>
      (await store.db.selectFrom("encryption_key").select("fingerprint").executeTakeFirstOrThrow()).fingerprint;
    const [old, both] = [parseKeyring(`${a}`), parseKeyring(`${b}\n${a}`)];

    await registerReplica(store, "left-out", { keyring: old });
    expect(await checkDatabaseAtStart(store, old, log)).toBe(true);
    expect(await checkDatabaseAtStart(store, both, log)).toBe(true);
    expect(await current()).toBe(old[0]?.fingerprint);
    expect(lines.join("")).toMatch(/is not given to 1 of the servers \(left-out\)/);

    await deregisterReplica(store, "left-out");
    expect(await checkDatabaseAtStart(store, both, log)).toBe(true);
    expect(await current()).toBe(both[0]?.fingerprint);
  });

  test("c119: takes the first encryption key though a credential cannot be decrypted, and names what has it", async () => {
    const store = opened();
    const lines: string[] = [];
    const log = createLog("warn", { write: (line: string) => void lines.push(line) });
    const [a, b] = [0, 1].map(() => randomBytes(32).toString("base64"));
    const [old, both] = [parseKeyring(`${a}`), parseKeyring(`${b}\n${a}`)];
    await store.db.deleteFrom("encryption_key").execute();
    const upstream = { name: "model", dialect: "openai" as const, baseUrl: "https://provider.test", credential: "sk" };
    const [whole, changed] = await Promise.all(
      [1, 2].map(async () => {
        const draft = gatewayDraft(await makeTeam(store), { upstreams: [upstream] });
        return (await run(store, (tx) => saveGateway(tx, draft, old))).gatewayId;
      }),
    );
    expect(await checkDatabaseAtStart(store, old, log)).toBe(true);
    await store.db
      .updateTable("gateway_upstreams")
      .set({ credential: sql`credential || '\\x00'::bytea` })
      .where("gateway_id", "=", `${changed}`)
      .execute();

    expect(await checkDatabaseAtStart(store, both, log)).toBe(true);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      `a stored credential cannot be decrypted, and stays as it is: that of an upstream of gateway ${changed}. Enter it again; a declared one is read again from its Secret.`,
    ]);
    const credential = await run(store, (tx) => readUpstreamCredential(tx, `${whole}`, "model", both.slice(0, 1)));
    expect(credential).toBe("sk");
  });
});
