import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { DestinationKind } from '../../shared/destinations/sdk/destination.ts';
import { platformScenarios } from '../../shared/destinations/sdk/platform.ts';
import type { PlatformProblem, PlatformScenario } from '../../shared/destinations/sdk/platform.ts';
import { authorized } from '../../shared/egress/oauth/authorized.ts';
import type { Sender } from '../../shared/egress/sender.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { prepareKind } from './prepare-destination.ts';
import type { ReadyDestination } from './prepare-destination.ts';
import { missingSettings } from './settings.ts';
import type { SettingSealer } from './settings.ts';

const scenarios = Object.keys(platformScenarios) as PlatformScenario[];

/** The behaviour of the scripted platform. */
export const scenarioField = Type.Enum(scenarios, {
  description:
    'How the sandbox answers. ' +
    scenarios.map((scenario) => `${scenario}: it ${platformScenarios[scenario]}.`).join(' '),
});

/** Additional results of a test in the sandbox. */
export const sandboxReply = nullable(
  Type.Object(
    {
      scenario: Type.Enum(scenarios),
      madeUpSettings: Type.Array(Type.String(), {
        description: 'Keys of required settings that are not set yet: made-up values were used for them.',
      }),
      problems: Type.Array(
        Type.Object({
          field: Type.String({ description: 'A path with dots; empty for the request as a whole.' }),
          message: Type.String(),
        }),
        { description: 'Why the platform refuses the request, or the reason of the scenario.' },
      ),
    },
    { description: 'Null if the request was sent to the platform itself.' },
  ),
);

export type SandboxReport = Exclude<Static<typeof sandboxReply>, null>;

/** A platform of one test: it answers as documented, without a network. */
export type Sandbox = {
  readonly sender: Sender;
  /** The platform's check of the request; call it after the request was sent. */
  report(): SandboxReport;
};

/** Prepares a test of a kind in the sandbox, with unencrypted settings. Throws a 400 if the kind refuses them. */
export async function prepareSandboxTest(
  kind: DestinationKind,
  given: JsonObject,
  scenario: PlatformScenario,
): Promise<ReadyDestination & { readonly sandbox: Sandbox }> {
  const platform = await kind.loadPlatform();
  const { settings, madeUp } = completeSettings(kind, given);
  const problems: PlatformProblem[] = [];
  const sender: Sender = {
    async send(request) {
      const judged = platform.judge(authorized(request, 'sandbox'), { scenario });
      problems.push(...judged.problems);
      return { kind: 'answered', answer: judged.answer };
    },
    close: async () => undefined,
  };
  const report = () => ({ scenario, madeUpSettings: [...madeUp], problems: problems.map(problemOf) });
  return { ...prepareKind(kind, settings), sandbox: { sender, report } };
}

const problemOf = ({ field, message }: PlatformProblem) => ({ field, message });

/** For settings that are not encrypted: returns them unchanged. */
const opened: SettingSealer = { seal: (_key, plain) => plain, open: (_key, sealed) => sealed };

/**
 * The unencrypted settings; required settings that are not set get the kind's example values, because a sandbox needs
 * no account at the platform. Throws a 400 for a setting that is set and cannot be used.
 */
function completeSettings(
  kind: DestinationKind,
  given: JsonObject,
): { readonly settings: JsonObject; readonly madeUp: readonly string[] } {
  const missing = missingSettings(kind, given, opened);
  if (missing.length === 0) return { settings: given, madeUp: [] };
  const examples = kind.exampleSettings;
  const settings = { ...given, ...Object.fromEntries(missing.map((key) => [key, examples[key]])) };
  return { settings, madeUp: missing };
}
