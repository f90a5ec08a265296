/**
 * `keyplane/pulumi/kubernetes`: Pulumi programs on a real API server with a real controller. In the engine's place, and
 * the Kubernetes provider's, stands what those do with a resource: apply it, wait as it asks to, keep the answer.
 */
import { randomBytes } from "node:crypto";
import { type Output, runtime } from "@pulumi/pulumi";
import type { MockResourceArgs, MockResourceResult } from "@pulumi/pulumi/runtime/mocks.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keyDigest, keyShape } from "../../../domain/key/secret/key-format.ts";
import { parseManifests } from "../../../domain/manifest/document/parse.ts";
import { readManifest } from "../../../domain/manifest/validation/validate.ts";
import { ModelGateway, PlatformKey } from "../../../infra/pulumi/kubernetes/resources.ts";
import { read } from "../../architecture/sources.ts";
import { blocksIn } from "../../env/blocks.ts";
import { type Controller, startController } from "../../env/controller.ts";
import { migratedDatabase } from "../../env/database/engines.ts";
import { type LentKubernetes, lendKubernetes } from "../../env/kubernetes/lent.ts";

const CREDENTIAL = "canary-of-a-provider";

describe("typed resources for Kubernetes", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let controller: Controller;
  let docsAgent: PlatformKey["secretRef"];
  let chat: PlatformKey;
  /** What the engine is sent of each resource, and what it keeps of it. */
  const registered: MockResourceArgs[] = [];
  const states: MockResourceResult[] = [];
  /** Rejects where a resource could not be made: the SDK leaves whatever awaits its outputs waiting. */
  const failed = Promise.withResolvers<never>();
  const settled = <T>(output: Output<T>) =>
    Promise.race([new Promise<T>((resolve) => output.apply(resolve)), failed.promise]);

  const kubectl = (args: readonly string[], stdin?: string) => kubernetes.kubectl(args, stdin);

  /** As its fields come back from the API server. */
  async function make(args: MockResourceArgs): Promise<MockResourceResult> {
    registered.push(args);
    const { kind, metadata } = args.inputs;
    const place = metadata.namespace === undefined ? [] : ["--namespace", metadata.namespace];
    const condition = metadata.annotations?.["pulumi.com/waitFor"];
    await kubectl(["apply", "--server-side", "--filename", "-"], JSON.stringify(args.inputs));
    if (condition) await kubectl(["wait", `--for=${condition}`, kind, metadata.name, ...place, "--timeout=60s"]);
    const state = JSON.parse(await kubectl(["get", kind, metadata.name, ...place, "--output", "json"]));
    states.push({ id: metadata.name, state });
    return { id: metadata.name, state };
  }

  /** The plaintext that a container would be given. */
  async function plaintextAt({ name, key }: { name: string; key: string }): Promise<string> {
    const json = await kubectl(["get", "secret", name, "--namespace", "research", "--output", "json"]);
    return Buffer.from(JSON.parse(json).data[key] ?? "", "base64").toString();
  }

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    await kubectl(["create", "namespace", "research"]);
    const provider = { metadata: { name: "provider", namespace: "research" }, stringData: { "api-key": CREDENTIAL } };
    await kubectl(["apply", "--filename", "-"], JSON.stringify({ apiVersion: "v1", kind: "Secret", ...provider }));
    controller = await startController({
      kubeconfig: kubernetes.kubeconfigPath,
      databaseUrl: database.url,
      encryptionKey: randomBytes(32).toString("base64"),
    });
    const newResource = (args: MockResourceArgs) =>
      make(args).catch((error) => {
        failed.reject(error);
        throw error;
      });
    await runtime.setMocks({ newResource, call: ({ inputs }) => inputs });
    docsAgent = (await import("../../../examples/pulumi-kubernetes/index.ts")).docsAgentSecret;
    chat = declareChat();
  });

  afterAll(async () => {
    await controller?.stop();
    await database?.drop();
    await kubernetes?.close();
  });

  it("makes of examples/pulumi-kubernetes a key that its controller mints, in the Secret that secretRef names", async () => {
    const ref = await settled(docsAgent);
    expect(ref).toEqual({ name: "docs-agent", key: "api-key" });
    expect(keyShape(await plaintextAt(ref))).toBe("minted");
  });

  it("binds a key to the gateway that it names, and shows in its status what has become of it", async () => {
    const ref = await settled(chat.secretRef);
    expect(ref).toEqual({ name: "chat-key", key: "OPENAI_API_KEY" });
    expect(keyShape(await plaintextAt(ref))).toBe("minted");
    expect((await settled(chat.status))?.effectiveScopes).toEqual(["gateway:generate"]);
  });

  it("is shown in the docs as it is in the example", () => {
    const blocks = blocksIn(read("docs/guides/pulumi.md"));
    const shown = blocks.filter(({ language, heading }) => language === "ts" && heading === "Keys of a cluster");
    expect(shown.length).toBeGreaterThan(0);
    for (const { text } of shown) expect(read("examples/pulumi-kubernetes/index.ts")).toContain(text);
  });

  it("registers what keyplane validate accepts, without a warning", async () => {
    await Promise.all([settled(docsAgent), settled(chat.secretRef)]);
    expect(registered.map(({ type }) => type.split(":").at(-1)).sort()).toEqual([
      "MemoryLibrary",
      "ModelGateway",
      "PlatformKey",
      "PlatformKey",
      "PlatformTeam",
    ]);
    const text = registered.map(({ inputs }) => JSON.stringify(inputs)).join("\n---\n");
    const { documents, diagnostics } = parseManifests(text, "registered");
    expect([...diagnostics, ...documents.flatMap((document) => readManifest(document).diagnostics)]).toEqual([]);
  });

  it("has no secret in what the engine is sent and keeps", async () => {
    const refs = await Promise.all([settled(docsAgent), settled(chat.secretRef)]);
    const kept = JSON.stringify([registered, states]);
    expect(kept).toContain("keyPrefix");
    for (const ref of refs) {
      const plaintext = await plaintextAt(ref);
      expect(kept).not.toContain(plaintext);
      expect(kept).not.toContain(plaintext.slice(12));
      expect(kept).not.toContain(Buffer.from(keyDigest(plaintext), "latin1").toString("hex"));
    }
    expect(kept).not.toContain(CREDENTIAL);
  });
});

/** A key that is bound to a gateway. */
function declareChat(): PlatformKey {
  const namespace = "research";
  const metadata = { namespace, annotations: { "pulumi.com/waitFor": "condition=Ready" } };
  const credentialRef = { name: "provider" };
  const gateway = new ModelGateway("main", {
    metadata: { ...metadata, name: "main" },
    spec: {
      upstreams: [{ name: "openai", dialect: "openai", baseURL: "https://api.openai.com", credentialRef }],
    },
  });
  return new PlatformKey("chat", {
    metadata: { ...metadata, name: "chat" },
    spec: {
      scopes: ["gateway:generate"],
      gatewayRef: { name: gateway.metadata.name },
      secret: { name: "chat-key", dataKey: "OPENAI_API_KEY" },
    },
  });
}
