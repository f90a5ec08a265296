import { describeWorlds } from "../controller/fixtures/setup.ts";
import { keyFaults } from "./key-faults.ts";

describeWorlds("a fault", keyFaults);
