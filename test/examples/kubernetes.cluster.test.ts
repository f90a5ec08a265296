/** `examples/kubernetes` as its README has it, and what the project's README shows of it. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { read } from "../architecture/sources.ts";
import { keyplane } from "../cli/up.ts";
import { accountKubeconfig, type Controller, startController } from "../env/controller.ts";
import { migratedDatabase } from "../env/database/engines.ts";
import { type LentKubernetes, lendKubernetes } from "../env/kubernetes/lent.ts";

describe("examples/kubernetes", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let controller: Controller;

  const kubectl = (command: string) => kubernetes.kubectl(command.split(" "));

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    await kubectl("apply -f infra/rbac/controller.yaml");
    const kubeconfig = await accountKubeconfig(kubernetes);
    const encryptionKey = randomBytes(32).toString("base64");
    controller = await startController({ kubeconfig, databaseUrl: database.url, encryptionKey });
  });

  afterAll(async () => {
    await controller?.stop();
    await database?.drop();
    await kubernetes?.close();
  });

  it("becomes Ready by the commands of its README, under the rights of infra/rbac", async () => {
    const commands = [...read("examples/kubernetes/README.md").matchAll(/^kubectl (.+)$/gm)].map(
      ([, args = ""]) => args,
    );
    expect(commands.length).toBeGreaterThan(4);
    for (const command of commands) await kubectl(command);
    const data = "jsonpath={.data['mcp\\.json']}";
    expect(await kubectl(`get secret docs-agent-key -n research-dev -o ${data}`)).not.toBe("");
    const pod = "jsonpath={.spec.template.metadata.annotations}";
    expect(await kubectl(`get deployment docs-agent -n research-dev -o ${pod}`)).toMatch(
      /^\{"version\.keyplane\.dev\/docs-agent":"key_\w+\.1\.inf_\w{8}"\}$/,
    );
  });

  it("looks as the README of the project shows it", async () => {
    const [, command = "", output = ""] = /^\$ kubectl (.+)\n([\s\S]*?)\n```/m.exec(read("README.md")) ?? [];
    expect(command).toBe("get keyplane -A");
    expect(inShape(await kubectl(command))).toBe(inShape(output));
  });

  it("has beside it what keyplane init writes, applied by kubectl in one go", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keyplane-init-"));
    try {
      expect((await keyplane(["init", folder, "--team", "begun"])).code).toBe(0);
      await kubectl(`apply --server-side -f ${folder}`);
      await kubectl("apply -n begun -f infra/rbac/namespace.yaml");
      await kubectl("wait --for=condition=Ready platformkey/first-app modelgateway/main -n begun --timeout=60s");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** An output without what differs from one time to the next: prefixes, times, ages, and the width of columns. */
function inShape(output: string): string {
  return output
    .replaceAll(/inf_\w{8}/g, "inf_PREFIX")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/(?<=\s)\d+[smhd](\d+[sm])?(?=\s|$)/g, "AGE")
    .replaceAll(/ +/g, " ")
    .replaceAll(/ $/gm, "")
    .trim();
}
