import type { Fault } from './families/fault.ts';

const head = `# Faults

Faults, their signs, and what to do. \`npm run faults\` causes each of them in a whole stack under load and checks that
no acknowledged event is lost, or arrives under a second key or out of order; see
[bench/faults](../../bench/faults/README.md). If a problem looks like none of them, begin with \`npm run doctor\`.

<!-- Made by \`npm run generate\` from the faults' own descriptions. -->
`;

/** The runbook's page of faults, with a section per fault. */
export function runbookPage(faults: readonly Fault[]): string {
  return [head, ...faults.filter(({ harms }) => harms.length > 0).map(sectionOf)].join('\n');
}

function sectionOf({ name, about, sees, does }: Fault): string {
  return `## ${name}

${about.charAt(0).toUpperCase()}${about.slice(1)}.

**You see:** ${sees}

**You do:** ${does}
`;
}
