import { describeWorlds } from "../controller/fixtures/setup.ts";
import { changeFaults } from "./change-faults.ts";
import { deletionFaults } from "./deletion-faults.ts";
import { mintFaults } from "./mint-faults.ts";
import { refusedSecretFaults } from "./refused-secret-faults.ts";
import { statusFaults } from "./status-faults.ts";

describeWorlds("a fault", (setup) => {
  for (const tests of [mintFaults, statusFaults, refusedSecretFaults, changeFaults, deletionFaults]) tests(setup);
});
