import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { findEncryptionKeys, findOtherClusters } from "../../../cli/doctor/database-contents.ts";
import { assertKeyring } from "../../../store/encryption-key.ts";
import { parseKeyring } from "../../../store/keyring.ts";
import { describeNightlyOnEachEngine } from "../../env/engines.ts";
import { makeTeam, reserveKey } from "../../store/fixtures.ts";

describeNightlyOnEachEngine("keyplane doctor", (store) => {
  test("c53: says that the database is another cluster's, where it has nothing of this one", async () => {
    const { db } = store();
    expect(await findOtherClusters({ uid: "here" }, db)).toEqual([]);
    await reserveKey(store(), await makeTeam(store(), { cluster: "there" }));
    const [finding, ...others] = await findOtherClusters({ uid: "here" }, db);
    expect(finding).toMatchObject({ is: "WRONG" });
    expect(finding?.message).toMatch(/^the database has 1 keys of the cluster there, and nothing of this one, here: /);
    expect(others).toEqual([]);
    await makeTeam(store(), { cluster: "here" });
    expect(await findOtherClusters({ uid: "here" }, db)).toMatchObject([{ is: "note" }]);
  });

  test("c54: says that the encryption keys are not the database's", async () => {
    const [own, other] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64"));
    await assertKeyring(store().db, parseKeyring(String(own)));
    expect(await findEncryptionKeys(store().db, own)).toEqual([]);
    expect(await findEncryptionKeys(store().db, undefined)).toEqual([]);
    const [finding] = await findEncryptionKeys(store().db, other);
    expect(finding).toMatchObject({ is: "WRONG", message: expect.stringMatching(/stored under the encryption key/) });
    expect(await findEncryptionKeys(store().db, "nonsense")).toMatchObject([{ is: "WRONG" }]);
  });
});
