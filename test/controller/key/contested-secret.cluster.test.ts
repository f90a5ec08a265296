import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { key, startWorld } from "../fixtures/world.ts";
import { delivered } from "./contested-secret.ts";

describeWorldsOnKubernetes("who keeps deleting a Secret", (setup, kubernetes) => {
  it("c51: is explained by the marks on it: field managers, and those of Argo CD, Flux and Helm, without a key in them", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const path = `/api/v1/namespaces/dev${world.tag}/secrets/agent`;
    const marksRecorded = async () =>
      (await world.stored("agent")).secretFound?.marks.some((mark) => mark.includes("team-a"));
    const mark = async () => {
      const metadata = {
        labels: {
          "kustomize.toolkit.fluxcd.io/name": "team-a",
          "app.kubernetes.io/instance": "x".repeat(63),
          "app.kubernetes.io/part-of": "unshown",
        },
        annotations: {
          "argocd.argoproj.io/tracking-id": `apps:/Secret:dev/${await world.plaintextOf("agent")}\u001b[2J`,
          "meta.helm.sh/release-name": "y".repeat(1_000),
        },
      };
      const { status, body } = await kubernetes().request("PATCH", `${path}?fieldManager=argocd-controller`, {
        body: JSON.stringify({ metadata }),
        contentType: "application/merge-patch+json",
      });
      expect(status, JSON.stringify(body)).toBe(200);
      await until("the marks are recorded", marksRecorded);
    };
    await mark();
    await world.loseSecret("agent");
    await until("another key", () => world.keyIn("agent"));
    await world.rest();
    expect((await world.stored("agent")).secretFound?.marks).toEqual([]);
    await mark();
    await world.restart();
    await world.loseSecret("agent");
    const said = await until("it is reported", async () => {
      const condition = await delivered(world);
      return condition?.reason === "SecretContested" ? condition.message : undefined;
    });
    expect(said).toContain("field manager argocd-controller");
    expect(said).toContain("label kustomize.toolkit.fluxcd.io/name=team-a");
    expect(said).toContain("annotation argocd.argoproj.io/tracking-id=apps:/Secret:dev/inf_...");
    for (const absent of ["unshown", "keyplane-test", "\u001b"]) expect(said).not.toContain(absent);
    expect(said.length).toBeLessThan(1_500);
  });
});
