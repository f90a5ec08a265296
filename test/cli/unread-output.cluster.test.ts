import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { lendKubernetes } from "../env/kubernetes/lent.ts";
import { makeFullPipe, startOnto } from "./unread.ts";
import { team } from "./up.ts";

describe.skipIf(process.platform === "win32")("where nothing reads standard output", () => {
  describeOnPostgres("keyplane controller", (store) => {
    test("c44: decides, and ends", async () => {
      // Its own, since a team belongs to the whole cluster.
      const kubernetes = await lendKubernetes();
      onTestFinished(() => kubernetes.close());
      const controller = await startOnto(
        makeFullPipe().writer,
        ["controller", "--kubeconfig", kubernetes.kubeconfigPath],
        {
          KEYPLANE_DATABASE_URL: (await databaseUrl(store())).href,
          KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
        },
      );
      await kubernetes.kubectl(["apply", "--server-side", "--filename", "-"], team("research", "dev"));
      await kubernetes.kubectl(["wait", "--for=condition=Ready", "platformteam/research", "--timeout=60s"]);
      expect(await controller.dropped()).toBe(0);
      expect(await controller.stop()).toBe(0);
    });
  });
});
