import { useRef } from 'react';
import type { ReactElement, RefObject } from 'react';
import { useSearchParams } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { RuleMatches } from '../api/types.ts';
import { Waiting } from '../design/feedback.tsx';
import { Check } from '../design/field.tsx';
import { NamedChoice } from '../forms/named-choice.tsx';
import { useTriedEvent } from './event-choice.tsx';
import type { Question } from './kept-form.tsx';
import { templateProblems } from './known-paths.ts';
import { LogicBuilder } from './logic-builder.tsx';
import { MappingRows } from './mapping-rows.tsx';
import { MappingTrial } from './mapping-trial.tsx';
import { MatchesNote, saysMatches } from './matches-note.tsx';
import { Problems } from './problems.tsx';
import { ChoiceField, PriorityField, TextField, textOrNull } from './rule-fields.tsx';
import { RulePage } from './rule-page.tsx';
import type { RuleForm } from './rule-page.tsx';
import type { MappingFields, RuleLanguage } from './rule.ts';
import { useKnownPaths, useMatches } from './use-recent.ts';
import { newRuleId } from './use-trial.ts';
import { WithoutMapping } from './without-mapping.tsx';

const emptyMapping: MappingFields = {
  name: null,
  destinationId: '',
  priority: 0,
  isEnabled: true,
  logic: null,
  action: 'send',
  eventName: null,
  mappings: [],
  // Unlisted properties are kept; otherwise a new mapping would remove properties from every event.
  others: 'keep',
};

const actionWords: Readonly<Record<MappingFields['action'], string>> = { send: 'Send, as below', stop: 'Stop' };

/** One mapping, or a new one: its conditions, its action, and a preview. */
export function MappingPage(): ReactElement {
  const [search] = useSearchParams();
  const counted = useRef<RuleMatches>(undefined);
  return (
    <RulePage<MappingFields>
      collection="mappings"
      noun="mapping"
      newTitle="New mapping"
      lead="Which events a destination receives, and with which name and properties."
      list={{ to: '/rules', label: 'Rules' }}
      pathOf={(id) => `/rules/mappings/${id}`}
      empty={{ ...emptyMapping, destinationId: search.get('destinationId') ?? '' }}
      ask={(fields) => askBefore(fields, counted.current)}
      form={(form) => <MappingForm {...form} counted={counted} />}
      beside={({ id, fields }) => <Preview id={id} fields={fields} />}
    />
  );
}

/** The question before saving an enabled mapping that applies to every event, or to no recent event. */
function askBefore({ isEnabled, logic }: MappingFields, matches: RuleMatches | undefined): Question | undefined {
  if (!isEnabled) return undefined;
  if (logic === null) {
    return {
      title: 'Apply it to every event?',
      text: `This mapping has no condition, so it decides for every event of this destination, whatever its name. ${matches === undefined ? '' : saysMatches(matches)}`,
      action: 'Save for every event',
    };
  }
  if (matches === undefined || matches.matched > 0 || matches.examined === 0) return undefined;
  return {
    title: 'Save a mapping that matches no event?',
    text: `${saysMatches(matches)} Check the name and the values of its conditions.`,
    action: 'Save it anyway',
  };
}

type MappingFormProps = RuleForm<MappingFields> & { readonly counted: RefObject<RuleMatches | undefined> };

function MappingForm({ fields, change, counted }: MappingFormProps): ReactElement {
  const language = useRead<RuleLanguage>('/rules/language');
  const known = useKnownPaths();
  const matches = useMatches(fields.logic);
  counted.current = matches.isPlaceholderData ? undefined : matches.data;
  const tried = useTriedEvent(matches.data?.events);
  if (language.data === undefined) return <Waiting query={language} />;
  const named = new Set(fields.mappings.map(({ property }) => property.split('.', 1)[0]));
  const unnamed = Object.keys(tried.event?.eventProperties ?? {}).filter((property) => !named.has(property));
  return (
    <>
      <div className="two">
        <TextField
          label="Name"
          maxLength={250}
          value={fields.name}
          onChange={(name) => change({ name: textOrNull(name) })}
        />
        <NamedChoice
          label="Destination"
          of="destinations"
          none="Choose one"
          isRequired
          value={fields.destinationId}
          onChange={(destinationId) => change({ destinationId })}
        />
        <PriorityField
          hint="The lowest number is tried first."
          value={fields.priority}
          onChange={(priority) => change({ priority })}
        />
        <ChoiceField
          label="Action"
          words={actionWords}
          value={fields.action}
          onChange={(action) => change({ action })}
        />
      </div>
      <Check label="Enabled" checked={fields.isEnabled} onChange={(isEnabled) => change({ isEnabled })} />
      <LogicBuilder
        logic={fields.logic}
        operators={language.data.operators}
        known={known}
        without="Every event."
        onChange={(logic) => change({ logic })}
      />
      <MatchesNote matches={matches.data} />
      {fields.action === 'stop' ? null : (
        <>
          <TextField
            label="Sent as"
            hint="Event name at the destination; may contain {{paths}}. Leave empty to keep the name."
            maxLength={1_000}
            value={fields.eventName}
            onChange={(eventName) => change({ eventName: textOrNull(eventName) })}
          />
          <Problems problems={templateProblems(fields.eventName ?? '', known)} />
          <MappingRows
            rows={fields.mappings}
            others={fields.others}
            modifications={language.data.modifications}
            known={known}
            unnamed={unnamed}
            onChange={change}
          />
        </>
      )}
    </>
  );
}

function Preview({ id, fields }: Pick<RuleForm<MappingFields>, 'id' | 'fields'>): ReactElement {
  const matches = useMatches(fields.logic);
  const tried = useTriedEvent(matches.data?.events);
  return (
    <div className="stack">
      <MappingTrial tried={tried} id={id ?? newRuleId} fields={fields} />
      {fields.destinationId === '' ? null : (
        // The key closes the list when another destination is chosen.
        <WithoutMapping key={fields.destinationId} destinationId={fields.destinationId} />
      )}
    </div>
  );
}
