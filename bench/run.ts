import { readOrder } from './options.ts';
import type { BenchOrder } from './options.ts';
import { listScenarios } from './list-scenarios.ts';
import { runCompare } from './compare/run-compare.ts';
import { runPage } from './report/save-result.ts';
import { runScenarios } from './run-scenarios.ts';
import { scenarios } from './scenarios/registry.ts';
import { knownVariables } from './system/known-variables.ts';

const order = readOrder(process.argv.slice(2), scenarios, knownVariables());

// A closed terminal or pager must not prevent the bench from stopping the processes that it started.
process.stdout.on('error', () => undefined);

process.exitCode = await follow(order);

async function follow(order: BenchOrder): Promise<number> {
  switch (order.kind) {
    case 'list':
      say(listScenarios(scenarios));
      return 0;
    case 'run': {
      const chosen = scenarios.filter(({ name }) => order.names.includes(name));
      return runScenarios(chosen, order.options, say);
    }
    case 'compare':
      return runCompare(order, say);
    case 'page':
      return runPage(order.files, say);
    case 'said':
      say(order.text);
      return order.exitCode;
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
