#include "CObjectLifetime.h"
