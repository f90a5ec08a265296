/** A Secret that an admission control, or the validation, of a real API server refuses. */
import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import { eventsPath } from "../../../controller/cluster/kubernetes/resources.ts";
import { KEY_ID_ANNOTATION, KEY_VERSION_ANNOTATION } from "../../../controller/cluster/port.ts";
import type { Kubernetes } from "../../env/kubernetes/client.ts";
import { until } from "../../env/until.ts";
import {
  type Admission,
  type AdmissionTarget,
  refuseByAbsentWebhook,
  refuseByMutation,
  refuseByPolicy,
  refuseByQuota,
  refuseByWebhook,
} from "../fixtures/admission.ts";
import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { type KubernetesSide, makeKubernetesSide } from "../fixtures/kubernetes-side.ts";
import type { Shift } from "../fixtures/side.ts";
import { HOUR, key, startWorld, type World } from "../fixtures/world.ts";

/** What the API server lets the annotations of an object hold, names and values together. */
const ANNOTATION_BYTES = 256 << 10;

const REFUSERS: readonly {
  readonly what: string;
  readonly refuse: (target: AdmissionTarget) => Promise<Admission>;
  readonly named: (name: string) => string;
}[] = [
  { what: "a ResourceQuota", refuse: refuseByQuota, named: (name) => `exceeded quota: ${name}` },
  {
    what: "a ValidatingAdmissionPolicy",
    refuse: refuseByPolicy,
    named: (name) => `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request`,
  },
  {
    what: "a MutatingAdmissionPolicy that fails",
    refuse: refuseByMutation,
    named: (name) => `policy '${name}' with binding '${name}' denied request`,
  },
  { what: "a webhook", refuse: refuseByWebhook, named: (name) => `admission webhook "${name}" denied the request` },
  {
    what: "a webhook that does not answer",
    refuse: refuseByAbsentWebhook,
    named: (name) => `failed calling webhook "${name}"`,
  },
];

const ready = async (world: World) => (await world.status("agent")).conditions.find(({ type }) => type === "Ready");

/** The notes of a namespace's Warnings of one reason. */
async function warnings(kubernetes: Kubernetes, namespace: string, reason: string): Promise<string[]> {
  const { body } = await kubernetes.request("GET", eventsPath(namespace));
  const { items } = body as { items: { type: string; reason: string; note: string }[] };
  return items.filter((one) => one.type === "Warning" && one.reason === reason).map(({ note }) => note);
}

describeWorldsOnKubernetes("a Secret that is refused", (setup, kubernetes) => {
  for (const { what, refuse, named } of REFUSERS) {
    it(`c68: by ${what}: Ready and an event name it, and nothing is quoted`, async (context) => {
      const world = await startWorld(context, setup());
      const namespace = `dev${world.tag}`;
      const refuser = await refuse({ context, kubernetes: kubernetes(), namespace });
      await world.write(key("agent"));
      const said = await until("it is said", async () => {
        const found = await ready(world);
        return found?.reason === "SecretRefused" ? found : undefined;
      });
      expect(said.status).toBe("False");
      expect(said.message).toContain(`creating Secret ${namespace}/agent: ${named(refuser.name)}.`);
      expect(world.condition("SecretDelivered", "agent")).toBe("False/SecretRefused");
      expect(world.condition("Reconciling", "agent")).toBe("True/SecretRefused");
      const notes = await until("an event says it", async () => {
        const found = await warnings(kubernetes(), namespace, "SecretRefused");
        return found.length > 0 ? found : undefined;
      });
      expect(notes).toEqual([said.message]);
      expect(JSON.stringify([await world.status("agent"), notes, world.lines])).not.toContain("quoted");

      await refuser.end();
      await until("it is ready", async () => (await ready(world))?.reason === "Ready");
      expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
      expect((await world.stored("agent")).versions).toHaveLength(1);
    });
  }

  it("c68: as it is deleted: Ready and an event name who keeps it, the revocation is confirmed, and it goes in the end", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const namespace = `dev${world.tag}`;
    const plaintext = await world.plaintextOf("agent");
    const refuser = await refuseByWebhook({ context, kubernetes: kubernetes(), namespace });
    await world.undeclare(key("agent"));
    const said = await until("it is said", async () => {
      const found = await ready(world);
      return found?.reason === "SecretRefused" ? found : undefined;
    });
    expect(said.message).toContain(`deleting Secret ${namespace}/agent: admission webhook "${refuser.name}" denied`);
    await until("an event says it", async () => {
      const notes = await warnings(kubernetes(), namespace, "SecretRefused");
      return notes.includes(said.message);
    });
    await until("it is confirmed", () => world.condition("Enforced", "agent") === "True/Enforced");
    expect((await world.status("agent")).revocation?.confirmedAt).toBeDefined();
    expect(world.decide(plaintext)).toBe("unauthorized");

    await refuser.end();
    await until("it is gone", () => world.get("PlatformKey", "agent") === undefined);
    expect(await world.readSecret("agent")).toBeUndefined();
  });

  it("c68: for a rotation: Ready stays True, and names who refuses; the version before works on", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { rotation: { interval: "10h" } }));
    const namespace = `dev${world.tag}`;
    const first = await world.plaintextOf("agent");
    const refuser = await refuseByPolicy({ context, kubernetes: kubernetes(), namespace });
    await world.advance(11 * HOUR);
    const said = await until("it is said", async () => {
      const found = await ready(world);
      return found?.reason === "SecretRefused" ? found : undefined;
    });
    expect(said.status).toBe("True");
    expect(said.message).toContain(`replacing Secret ${namespace}/agent: ValidatingAdmissionPolicy '${refuser.name}'`);
    expect(world.condition("SecretDelivered", "agent")).toBe("True/Delivered");
    expect(await warnings(kubernetes(), namespace, "SecretRefused")).toEqual([said.message]);
    expect([await world.keyIn("agent"), world.decide(first)]).toEqual([first, "allowed"]);

    await refuser.end();
    await until("it is rotated", async () => (await ready(world))?.message.startsWith("Version 2 is delivered"));
  });

  it("c89: by its validation, for what others have left in it: Ready and an event name the field, and no version counts as read", async (context) => {
    let side: KubernetesSide | undefined;
    const own = {
      ...setup(),
      async side(shift: Shift) {
        side = await makeKubernetesSide(kubernetes(), shift);
        return side;
      },
    };
    const world = await startWorld(context, own, key("agent"));
    const secret = { kind: "Secret", name: "agent" } as const;
    const first = await world.plaintextOf("agent");
    const annotate = async (annotations: Record<string, string | null>) =>
      side?.patch(secret, { metadata: { annotations } });
    const id = (await side?.read(secret))?.metadata.annotations?.[KEY_ID_ANNOTATION] ?? "";
    // As many as an object may have, so that none can be added.
    const rest = ANNOTATION_BYTES - KEY_ID_ANNOTATION.length - id.length - "others".length;
    await annotate({ [KEY_VERSION_ANNOTATION]: null, others: "x".repeat(rest) });
    const said = await until("it is said", async () => {
      const found = await ready(world);
      return found?.reason === "SecretRefused" ? found : undefined;
    });
    expect(said.message).toContain("the API server finds it invalid by metadata.annotations");
    expect(await warnings(kubernetes(), `dev${world.tag}`, "SecretRefused")).toEqual([said.message]);

    await world.write(key("agent", { rotation: { trigger: "2" } }));
    await until("version 2 is reserved", async () => (await world.stored("agent")).lastNumber === 2);
    const refusals = () => world.lines.filter((line) => line.includes("finds it invalid")).length;
    const before = refusals();
    await until("it is refused", () => refusals() > before);
    // While a write is tried it may be read; once it is refused, it was not.
    await until("version 2 counts as unread", async () => {
      const { versions } = await world.stored("agent");
      const read = versions.map(({ number, mayBeRead }) => [number, mayBeRead]);
      return isDeepStrictEqual(read, [
        [2, false],
        [1, true],
      ]);
    });
    expect([await world.keyIn("agent"), world.decide(first)]).toEqual([first, "allowed"]);

    await annotate({ others: null });
    await until("it is rotated", async () => (await ready(world))?.message.startsWith("Version 2 is delivered"));
  });
});
