import { describeWorlds } from "./fixtures/setup.ts";
import { withRefusedCredential } from "./refused-credentials.ts";

describeWorlds("a gateway whose credential a provider refuses", withRefusedCredential);
