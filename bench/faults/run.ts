import { readFaultOrder } from './options.ts';
import { faults } from './registry.ts';
import { runFaults } from './run-faults.ts';

const order = readFaultOrder(process.argv.slice(2), faults);

// A closed terminal must not prevent the bench from stopping the processes that it started.
process.stdout.on('error', () => undefined);

if (order.kind === 'said') {
  say(order.text);
  process.exitCode = order.exitCode;
} else {
  process.exitCode = await runFaults(order, say);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
