import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { makeKubernetesSide } from "../fixtures/kubernetes-side.ts";
import { NAMESPACE } from "../fixtures/world.ts";
import { withTwoClaims } from "./namespace-claims.ts";

describeWorldsOnKubernetes("a namespace that no team holds and two teams claim", (setup, kubernetes) => {
  const namespaces = [NAMESPACE, "other"];
  withTwoClaims(() => ({
    ...setup(),
    side: (shift) => makeKubernetesSide(kubernetes(), shift, { namespaces }),
  }));
});
