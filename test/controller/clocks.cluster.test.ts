import { describeWorldsOnKubernetes } from "./fixtures/kubernetes-setup.ts";
import { withWrongClock } from "./own-clock.ts";

describeWorldsOnKubernetes("a controller whose own clock is wrong", withWrongClock);
