import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { checkDatabaseAtStart } from "../../processes/database-check.ts";
import { createLog } from "../../runtime/log.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { deregisterReplica, registerReplica } from "../../store/replicas/replicas.ts";
import { describeOnPostgres } from "../env/database/engines.ts";

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
});
