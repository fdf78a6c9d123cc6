import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router';
import { RequestError } from './api/request.ts';
import { Console } from './console.tsx';
import { BrokenPage } from './shell/broken-page.tsx';
import './design/design.css';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Requests are sent even if the browser is offline, because the control plane may run on the same machine.
      networkMode: 'always',
      staleTime: 5_000,
      // Retries twice if there was no reply, or a 5xx. A request that was refused (4xx) would be refused again.
      retry: (failures, error) => failures < 2 && (!(error instanceof RequestError) || error.status >= 500),
    },
    mutations: { networkMode: 'always' },
  },
});

// A data router, because only a data router can prevent the user from leaving a page.
const router = createBrowserRouter([{ path: '*', element: <Console />, errorElement: <BrokenPage /> }]);

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no element with the id root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      {/* In a transition, a field whose text is part of the address would get each key late and move its caret. */}
      <RouterProvider router={router} useTransitions={false} />
    </QueryClientProvider>
  </StrictMode>,
);
