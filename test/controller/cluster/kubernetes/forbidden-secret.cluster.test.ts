/** A Secret that the controller may not read any more, by the API server's own audit log. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { read } from "../../../architecture/sources.ts";
import { accountKubeconfig, type Controller, startController } from "../../../env/controller.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { createNamespace, inNamespace } from "../../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { keyManifest, teamManifest } from "../../../env/kubernetes/manifests.ts";
import { applyAll } from "../../../env/kubernetes/server-side-apply.ts";
import { until } from "../../../env/until.ts";
import { usesOf } from "../../../infra/rights.ts";

const INFRA = join(import.meta.dirname, "../../../../infra/rbac");
const ACCOUNT = "system:serviceaccount:keyplane-system:keyplane-controller";
/** How many keys another namespace gets meanwhile, one after the other. */
const MEANWHILE = 20;

describe("a Secret that is closed", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let store: Store;
  let controller: Controller;

  const kubectl = (...args: string[]) => kubernetes.kubectl(args);
  const role = (namespace: string) => ["--namespace", namespace, "--filename", join(INFRA, "namespace.yaml")];

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    store = await openPostgres(database.url);
    await applyAll(kubernetes, read("infra/rbac/controller.yaml"));
    controller = await startController({
      kubeconfig: await accountKubeconfig(kubernetes),
      databaseUrl: database.url,
      encryptionKey: randomBytes(32).toString("base64"),
    });
  });

  afterAll(async () => {
    await controller?.stop();
    await store?.close();
    await database?.drop();
    await kubernetes?.close();
  });

  const READ_ALONE = JSON.stringify([
    { op: "replace", path: "/rules/0/verbs", value: ["list", "watch", "create", "update", "delete"] },
  ]);
  const WITHDRAWALS = [
    {
      what: "the right to read it is withdrawn",
      name: "unread",
      withdraw: (namespace: string) =>
        kubectl("patch", "role", "keyplane-keys", "--namespace", namespace, "--type=json", "--patch", READ_ALONE),
    },
    {
      what: "the whole Role is withdrawn",
      name: "withdrawn",
      withdraw: (namespace: string) => kubectl("delete", ...role(namespace)),
    },
  ];

  it.concurrent.each(WITHDRAWALS)(
    "c58: $what: a few looks, a condition, few lines, and the key is back once it is given",
    async ({ name, withdraw }) => {
      const [closed, open] = [inNamespace(kubernetes, name), inNamespace(kubernetes, `${name}-not`)];
      for (const namespace of [name, `${name}-not`]) {
        await createNamespace(kubernetes, namespace);
        await applyAll(kubernetes, read("infra/rbac/namespace.yaml"), { namespace: namespace });
      }
      await closed.apply(`${teamManifest(name, `${name}, ${name}-not`)}${keyManifest("reader")}`);
      await closed.ready("reader");

      await withdraw(name);
      const [since, lines] = [Date.now(), controller.lines.length];
      // A change that is heard of, by the watch that is still open, and cannot be looked at.
      await closed.change(closed.secretPath("reader"), { metadata: { labels: { theirs: "kept" } } });
      const found = await closed.holds("cannot be read", "reader", (_, reason) => reason === "SecretUnreadable");
      const said = found.status?.conditions?.find(({ type }) => type === "SecretDelivered")?.message;
      expect(said).toContain(`cannot get resource "secrets"`);
      for (let i = 0; i < MEANWHILE; i++) {
        await open.apply(keyManifest(`other-${i}`));
        await open.ready(`other-${i}`);
      }
      const seconds = (Date.now() - since) / 1_000;
      const looks = (await usesOf(kubernetes.auditLog ?? "", ACCOUNT, since)).filter(
        (use) => use.verb === "get" && use.resource === "secrets" && use.namespace === name,
      );
      expect(looks.length, `in ${seconds} s`).toBeLessThan(10 + seconds / 5);
      expect(controller.lines.slice(lines).filter((line) => line.includes(name)).length).toBeLessThan(10);

      await applyAll(kubernetes, read("infra/rbac/namespace.yaml"), { namespace: name, force: true });
      const isReady = async () => {
        const { conditions } = (await closed.key("reader"))?.status ?? {};
        return conditions?.some(({ type, status }) => type === "Ready" && status === "True");
      };
      await until("it is ready again", isReady);
      expect((await closed.key("reader"))?.status?.currentVersion).toBe(1);
    },
  );
});
