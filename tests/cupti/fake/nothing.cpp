// libnvperf_host.so must be there for CUPTI to be taken; the fake one needs nothing of it.
