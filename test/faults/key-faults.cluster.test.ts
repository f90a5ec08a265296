import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { changeFaults } from "./change-faults.ts";
import { deletionFaults } from "./deletion-faults.ts";
import { mintFaults } from "./mint-faults.ts";
import { refusedSecretFaults } from "./refused-secret-faults.ts";
import { statusFaults } from "./status-faults.ts";

/** By day those of a Secret that is made, which Kubernetes refuses in words of its own: the others are what files show. */
const FAULTS = NIGHTLY ? [mintFaults, statusFaults, refusedSecretFaults, changeFaults, deletionFaults] : [mintFaults];

describeWorldsOnKubernetes("a fault", (setup) => {
  for (const tests of FAULTS) tests(setup);
});
