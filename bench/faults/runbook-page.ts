import type { Fault } from './families/fault.ts';

const head = `# Faults

What goes wrong, what you see of it, and what there is to do. Each of these is done to a whole stack under load by
\`npm run faults\`, which checks that no acknowledged event is lost, comes under a second key or out of order; see
[bench/faults](../../bench/faults/README.md). Where something looks like none of them, begin with \`npm run doctor\`.

<!-- Made by \`npm run generate\` from the faults' own descriptions. -->
`;

/** The runbook's page of faults: a section each. */
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
