import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { topFolder } from '../../shared/runtime/compiled-path.ts';

/** The text of an alert for operators. */
type AlertText = {
  readonly meaning: string;
  readonly impact: string;
  readonly look: readonly string[];
  readonly do: readonly string[];
};
type Rules = { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
type Rule = { readonly alert?: string; readonly labels?: { readonly severity?: string } };

const head = `# Alerts

<!-- Made by \`npm run generate\` from deploy/prometheus/runbook.yml and rules/alerts.yml. -->

A section for each alert of \`deploy/prometheus/rules/alerts.yml\`. \`page\`: an operator acts now. \`ticket\`: it can wait for the next working day.

\`deploy/prometheus/alertmanager.yml\` is an example for Alertmanager with webhook, Slack and e-mail. An alert about a destination names it, and
\`console_url\` is the path of its page in the console. Alerts link to these sections by their path in the repository. To link elsewhere, set the chart's \`prometheusRule.runbookBaseUrl\`, or replace the path:
\`sed 's|deploy/runbook/alerts.md|https://…/docs/operate/alerts.html|' deploy/prometheus/rules/alerts.yml\`.
`;

/** The runbook's page of alerts, in the order of the rules. Throws if an alert has no text, or a text has no alert. */
export function runbookPage(): string {
  const texts = new Map(Object.entries(read('deploy/prometheus/runbook.yml') as Record<string, AlertText>));
  const { groups } = read('deploy/prometheus/rules/alerts.yml') as Rules;
  const sections = groups
    .flatMap(({ rules }) => rules)
    .map(({ alert = '', labels }) => {
      const text = texts.get(alert);
      if (text === undefined) throw new Error(`deploy/prometheus/runbook.yml has no text for ${alert}`);
      texts.delete(alert);
      return section(alert, labels?.severity ?? '', text);
    });
  if (texts.size > 0) throw new Error(`deploy/prometheus/runbook.yml: no alert ${[...texts.keys()].join(', ')}`);
  return [head, ...sections].join('\n');
}

function section(alert: string, severity: string, { meaning, impact, look, do: steps }: AlertText): string {
  return `## ${alert}

Severity: ${severity}.

**Meaning.** ${meaning}

**Impact.** ${impact}

**What to look at**

${list(look)}

**What to do**

${list(steps)}
`;
}

const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');

const read = (path: string): unknown => parse(readFileSync(new URL(path, topFolder), 'utf8')) as unknown;
