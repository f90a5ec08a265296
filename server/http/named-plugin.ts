/** Property under which the framework looks for a plugin's name. */
const NAME = Symbol.for("fastify.display-name");

/**
 * Names a plugin for the framework, which for one without a name compares it with every CommonJS module of the process:
 * a tenth of the processor's time that a server's start takes.
 */
export function named<P extends object>(name: string, plugin: P): P {
  return Object.assign(plugin, { [NAME]: name });
}
