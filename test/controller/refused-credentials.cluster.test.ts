import { describeWorldsOnKubernetes } from "./fixtures/kubernetes-setup.ts";
import { withRefusedCredential } from "./refused-credentials.ts";

describeWorldsOnKubernetes("a gateway whose credential a provider refuses", withRefusedCredential);
