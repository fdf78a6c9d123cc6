import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { Source, SourceType, Tokens } from '../api/types.ts';
import { Code } from '../design/code.tsx';
import { Field } from '../design/field.tsx';
import { snippetsFor } from './snippets.ts';

export type InstallCardProps = { readonly source: Source; readonly type: SourceType; readonly tokens: Tokens };

/** Code that sends a first event, with one tab per library. */
export function Install({ source, type, tokens }: InstallCardProps): ReactElement {
  const [search] = useSearchParams();
  const [isTest, setTest] = useState(false);
  const snippets = snippetsFor({
    type: type.id,
    group: type.group,
    sourceId: source.id,
    ingestUrl: tokens.ingestUrl,
    key: isTest ? tokens.testToken : tokens.token,
    installScript: isTest ? tokens.testInstallScript : tokens.installScript,
  });
  const shown = snippets.find(({ id }) => id === search.get('with')) ?? snippets[0];
  return (
    <>
      {snippets.length < 2 ? null : (
        <nav className="tabs" aria-label="Libraries">
          {snippets.map(({ id, label }) => (
            <Link key={id} to={`?with=${id}`} replace aria-current={id === shown?.id ? 'page' : undefined}>
              {label}
            </Link>
          ))}
        </nav>
      )}
      {shown?.parts.map(({ title, text }) => (
        <Code key={title} label={title} text={text} />
      ))}
      {type.id === 'RedirectSource' ? (
        <p className="hint">The link opens the address set on the source and counts each click.</p>
      ) : (
        <Field
          label="Key"
          hint={
            isTest
              ? 'Events with the test key are checked and shown in the console. No destination receives them.'
              : 'Events with this key go to every destination that may receive them.'
          }
        >
          {(ids) => (
            <select
              {...ids}
              value={isTest ? 'test' : 'live'}
              onChange={(input) => setTest(input.target.value === 'test')}
            >
              <option value="live">Key</option>
              <option value="test">Test key</option>
            </select>
          )}
        </Field>
      )}
      {type.group === 'server' ? (
        <p className="hint">Keep this key on your servers. For web pages, use the key of a web source.</p>
      ) : null}
      <p className="hint">
        <a href={guides[type.group]}>{type.group === 'webhook' ? 'All providers' : 'The whole guide'}</a>
      </p>
    </>
  );
}

const guides: Readonly<Record<SourceType['group'], string>> = {
  page: '/docs/connect/page.html',
  app: '/docs/connect/app.html',
  server: '/docs/connect/server.html',
  webhook: '/docs/sources.html',
};
