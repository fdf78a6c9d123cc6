import type { ReactElement, ReactNode } from 'react';
import type { Change } from '../api/types.ts';
import { State } from '../design/feedback.tsx';
import { At } from '../design/time.tsx';
import { fieldWords } from './field-words.ts';

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
  /** Names of the entities that fields refer to, by id. */
  readonly names: Readonly<Record<string, string>>;
  readonly action?: (change: Change) => ReactNode;
};

/** Changed entities, each with its changed fields. */
export function ChangeList({ changes, names, action }: ChangeListProps): ReactElement {
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
              <Fields change={change} names={names} />
            </div>
          </section>
        );
      })}
    </div>
  );
}

type FieldsProps = { readonly change: Change; readonly names: ChangeListProps['names'] };

function Fields({ change, names }: FieldsProps): ReactElement | null {
  // For a removed entity only its name is shown.
  if (change.change === 'removed') return null;
  const fields = change.fields.filter((field) =>
    change.change === 'modified' ? true : !isEmpty(field.new) && !(field.path === 'type' && change.label !== null),
  );
  return (
    <dl className="facts">
      {fields.map((field) => (
        <Field key={field.path} path={field.path}>
          {field.old === undefined || change.change === 'added' ? null : (
            <>
              <del>
                <span className="hidden-text">was </span>
                {show(field.old, names)}
              </del>{' '}
            </>
          )}
          {field.new === undefined ? (
            <span className="soft">no longer set</span>
          ) : (
            <ins>
              <span className="hidden-text">is now </span>
              {show(field.new, names)}
            </ins>
          )}
        </Field>
      ))}
    </dl>
  );
}

function Field({ path, children }: { readonly path: string; readonly children: ReactNode }): ReactElement {
  return (
    <>
      <dt title={path}>{fieldWords(path)}</dt>
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

function show(value: unknown, names: ChangeListProps['names']): string {
  if (value === '********') return 'a secret';
  if (value === null) return 'nothing';
  if (typeof value === 'string') return value === '' ? '(empty)' : (names[value] ?? value);
  if (isTextList(value)) return value.map((one) => names[one] ?? one).join(', ');
  return JSON.stringify(value);
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}
