import type { ReactElement, ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import type { Change, DestinationType, SettingDescriptor } from '../api/types.ts';
import { State } from '../design/feedback.tsx';
import { At } from '../design/time.tsx';
import { fieldWords, settingOf, valueWords } from './field-words.ts';

const collections: Readonly<Record<string, string>> = {
  destinations: 'Destination',
  sources: 'Source',
  allowedEvents: 'Allowed event',
  externalAllowedEventData: 'Allowed event data',
  mappings: 'Mapping',
  consentSettings: 'Consent',
  globalDispatchCenters: 'Dispatch rules',
  replaySettings: 'Replay settings',
  tagManagers: 'Tag manager',
  tagManagerTags: 'Tag',
  tagManagerTriggers: 'Trigger',
  tagManagerVariables: 'Tag variable',
  dataGovernanceRules: 'Tracking plan rule',
  dataGovernanceEvents: 'Planned event',
  experimentSettings: 'Experiment settings',
  experiments: 'Experiment',
  experimentVariants: 'Variant',
};

const kinds = {
  added: ['good', 'Added'],
  modified: ['warn', 'Changed'],
  removed: ['bad', 'Removed'],
} as const;

export type ChangeListProps = {
  readonly changes: readonly Change[];
  /** Names of the entities to which fields refer, by id. */
  readonly names: Readonly<Record<string, string>>;
  readonly action?: (change: Change) => ReactNode;
};

/** Changed entities, each with its changed fields. */
export function ChangeList({ changes, names, action }: ChangeListProps): ReactElement {
  const types = useRead<{ readonly entities: readonly DestinationType[] }>('/destinations/types', {
    enabled: changes.some(({ collection }) => collection === 'destinations'),
  });
  const settingsOf = ({ collection, label }: Change): readonly SettingDescriptor[] =>
    collection === 'destinations' ? (types.data?.entities.find((kind) => kind.label === label)?.settings ?? []) : [];
  return (
    <div className="stack">
      {changes.map((change) => {
        const [tone, word] = kinds[change.change];
        return (
          <section className="card" key={`${change.collection} ${change.id}`} aria-label={nameOf(change, names)}>
            <div className="body">
              <div className="row between">
                <div className="row">
                  <State tone={tone}>{word}</State>
                  <strong dir="auto">{nameOf(change, names)}</strong>
                </div>
                {action?.(change)}
              </div>
              <p className="hint">
                {collections[change.collection] ?? change.collection}
                {change.label === null ? '' : `, ${change.label}`}.
                {change.changedAt === null ? null : (
                  <>
                    {' '}
                    Last changed by {change.changedBy}, <At at={change.changedAt} />
                  </>
                )}
              </p>
              <Fields change={change} names={names} settings={settingsOf(change)} />
            </div>
          </section>
        );
      })}
    </div>
  );
}

type FieldsProps = {
  readonly change: Change;
  readonly names: ChangeListProps['names'];
  readonly settings: readonly SettingDescriptor[];
};

function Fields({ change, names, settings }: FieldsProps): ReactElement | null {
  // For a removed entity only its name is shown.
  if (change.change === 'removed') return null;
  const fields = change.fields.filter((field) =>
    change.change === 'modified' ? true : !isEmpty(field.new) && !(field.path === 'type' && change.label !== null),
  );
  return (
    <dl className="facts">
      {fields.map((field) => {
        const setting = settingOf(field.path, settings);
        return (
          <Field key={field.path} path={field.path} label={fieldWords(field.path, setting)}>
            {field.old === undefined || change.change === 'added' ? null : (
              <>
                <del>
                  <span className="hidden-text">was </span>
                  {valueWords(field.old, names, setting)}
                </del>{' '}
              </>
            )}
            {field.new === undefined ? (
              <span className="soft">no longer set</span>
            ) : (
              <ins>
                <span className="hidden-text">is now </span>
                {valueWords(field.new, names, setting)}
              </ins>
            )}
          </Field>
        );
      })}
    </dl>
  );
}

type FieldProps = { readonly path: string; readonly label: string; readonly children: ReactNode };

function Field({ path, label, children }: FieldProps): ReactElement {
  return (
    <>
      <dt title={path}>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

function nameOf({ id, name, label }: Change, names: ChangeListProps['names']): string {
  return name || (names[id] ?? label ?? id);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}
