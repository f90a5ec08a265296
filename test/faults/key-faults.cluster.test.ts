import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { keyFaults } from "./key-faults.ts";

describeWorldsOnKubernetes("a fault", keyFaults);
